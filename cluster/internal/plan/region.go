package plan

import "time"

// region is a simulated region. The package documentation explains its steps and its pointer.
type region struct {
	s          *simulation
	number     int
	process    *process
	stream     *stream
	travellers float64
	departures float64 // travellers who depart in a tick
	bytes      float64 // size of a message

	tick           int           // the tick that runs, or the last tick that ran
	began          time.Duration // when this tick began
	unacknowledged int           // number of unacknowledged messages
	full           bool          // the region waits for an acknowledgement
	statusDue      time.Duration // when the next status is due
	saving         bool          // a checkpoint was begun, and the pointer does not name it yet
	stored         bool          // the checkpoint is stored, and the pointer does not name it yet

	// worked is the time on cores, without waiting for a core. Workers that share a tick count once.
	worked                   time.Duration
	measureBegin, measureEnd time.Duration // begin and end of the measurement of the rate
}

// next runs the next tick when it is due.
func (r *region) next() {
	s := r.s
	if r.tick == s.Ticks {
		s.finished++
		return
	}
	r.tick++
	if s.Hz == 0 {
		r.begin()
		return
	}
	due := time.Duration(float64(r.tick-1) / s.Hz * float64(time.Second))
	s.after(due-s.now, r.begin)
}

// begin runs the tick if the messages that it needs have arrived. Otherwise the region waits for them.
func (r *region) begin() {
	if r.tick-r.s.Lookahead > r.process.ready {
		r.process.waiting = append(r.process.waiting, r)
		return
	}
	r.began = r.s.now
	c := r.s.costs
	arrivals := r.departures // on average
	tick := c.Tick + c.TravellerOf(r.s.Regions)*r.travellers + c.Crossing*(r.departures+arrivals)
	tick *= r.s.spread(c.Spread)
	before, after := r.status(), r.s.work(encoding, c.Encode.Of(r.bytes, r.s.Regions))+
		r.s.work(appending, c.Append.Of(r.bytes)/2)
	if r.tick > r.s.Lookahead {
		before += r.s.work(decoding, r.s.receive)
	}
	if r.process.workers == 1 {
		r.work(before+r.s.work(ticking, tick)+after, r.endTick)
		return
	}
	r.work(before+r.s.work(ticking, tick*c.Serial), func() {
		r.split(tick*(1-c.Serial), func() { r.work(after, r.endTick) })
	})
}

// status sends a status if one is due, and returns how long the region works for it.
func (r *region) status() time.Duration {
	s := r.s
	if s.now < r.statusDue {
		return 0
	}
	r.statusDue = s.now + time.Second
	bytes := s.costs.BytesStatus * r.travellers
	s.keys.append(message{reporting, s.costs.Append.Of(bytes), bytes, func() {
		s.deliver(s.keys.leader, reporting, bytes, func(*process) {})
	}})
	return s.work(reporting, s.costs.StatusOf(r.travellers))
}

// work occupies a core for the goroutine of the region, and then calls done.
func (r *region) work(d time.Duration, done func()) {
	r.worked += d
	r.process.cores.do(d, done)
}

// split runs the part of a tick that the workers share, and then calls done.
func (r *region) split(us float64, done func()) {
	left := r.process.workers
	d := r.s.work(ticking, us) / time.Duration(left)
	r.worked += d
	for range left {
		r.process.cores.do(d, func() {
			if left--; left == 0 {
				done()
			}
		})
	}
}

// endTick writes the message of the tick to the journal, and then sends the message. A process that has the
// only server does not sync the journal, so for this process the write takes no time.
func (r *region) endTick() {
	s := r.s
	switch r.tick {
	case s.warmUp():
		r.measureBegin = s.now
	case s.Ticks:
		r.measureEnd = s.now
	}
	if r.tick > s.warmUp() {
		s.times = append(s.times, s.now-r.began)
	}
	if s.embedded() && s.Replicas == 1 && r.process.machine == r.stream.leader {
		r.send()
		return
	}
	s.write(r.process.machine, 0, r.bytes, r.send)
}

func (r *region) send() {
	s, tick := r.s, r.tick
	leader := r.stream.leader
	r.unacknowledged++
	m := message{appending, s.costs.Append.Of(r.bytes) / 2, r.bytes, func() {
		s.transfer(leader, r.process.machine, 0, func() { r.acknowledged(tick) })
		s.deliver(leader, delivering, r.bytes, func(to *process) {
			if to != r.process { // the method acknowledged calls s.arrive for r.process
				s.arrive(to, tick)
			}
		})
	}}
	s.transfer(r.process.machine, leader, r.bytes, func() { r.stream.append(m) })
	r.proceed()
}

// acknowledged notes that the region's stream has stored the message of a tick.
func (r *region) acknowledged(tick int) {
	r.unacknowledged--
	r.s.arrive(r.process, tick)
	if r.full {
		r.proceed()
	}
}

// proceed begins the next tick, a checkpoint, or the replacement of the pointer. If too many messages are
// unacknowledged, the region waits for an acknowledgement first.
func (r *region) proceed() {
	s := r.s
	if r.full = r.unacknowledged >= s.Lookahead; r.full {
		return
	}
	offset := 0 // spreads the checkpoints of the regions over the ticks
	if s.Every > 0 {
		offset = s.Every * r.number / s.Regions
	}
	switch {
	case s.Every > 0 && !r.saving && (r.tick+offset)%s.Every == 0:
		r.save()
	case r.stored:
		r.saving, r.stored = false, false
		r.point(s.Regions + callsOfPointer)
	default:
		r.next()
	}
}

// warmUp returns the number of ticks before the measurement of the rate. These ticks bring the regions into a
// steady state.
func (s *simulation) warmUp() int { return min(max(s.Ticks/10, 2*s.Lookahead), s.Ticks/2) }
