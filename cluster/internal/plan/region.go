package plan

import "time"

// region is a region and the goroutine that runs its ticks.
type region struct {
	s          *simulation
	number     int
	process    *process
	stream     *stream
	travellers float64
	departures float64 // in a tick
	bytes      float64 // of a message

	tick     int // that runs, or has run last
	began    time.Duration
	onTheWay int           // messages that are not acknowledged
	full     bool          // it waits for an acknowledgement
	told     time.Duration // when the next status is due
	saving   bool          // a checkpoint is on its way
	stored   bool          // the checkpoint is stored, and the pointer does not name it yet

	worked       time.Duration // time in which it has a core, if it waits for none
	warm, ending time.Duration // when the ticks ended from which to which its rate counts
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

// begin runs the tick, if the messages that it needs are there.
func (r *region) begin() {
	if r.tick-r.s.Lookahead > r.process.ready {
		r.process.waiting = append(r.process.waiting, r)
		return
	}
	r.began = r.s.now
	c := r.s.costs
	arrivals := r.departures // on average
	tick := c.Tick + c.Traveller*r.travellers + c.Crossing*(r.departures+arrivals)
	tick *= r.s.spread(c.Spread)
	before, after := r.status(), r.s.work(encoding, c.Encode.Of(r.bytes, r.s.Regions))+
		r.s.work(appending, c.Append.Of(r.bytes)/2)
	if r.tick > r.s.Lookahead {
		before += r.s.work(decoding, r.s.receive)
	}
	if r.process.workers == 1 {
		r.work(before+r.s.work(ticking, tick)+after, r.ran)
		return
	}
	r.work(before+r.s.work(ticking, tick*c.Serial), func() {
		r.split(tick*(1-c.Serial), func() { r.work(after, r.ran) })
	})
}

// status makes a status once a second, and returns the time of it.
func (r *region) status() time.Duration {
	s := r.s
	if s.now < r.told {
		return 0
	}
	r.told = s.now + time.Second
	bytes := s.costs.BytesStatus * r.travellers
	s.keys.append(message{telling, s.costs.Append.Of(bytes), bytes, func() {
		s.deliver(s.keys.leader, telling, bytes, func(*process) {})
	}})
	return s.work(telling, s.costs.StatusOf(r.travellers))
}

// work is work of the goroutine of the region.
func (r *region) work(d time.Duration, done func()) {
	r.worked += d
	r.process.cores.do(d, done)
}

// split is the part of a tick that the workers share.
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

// ran follows a tick. The journal is synced unless the only server is embedded: it has the same disk.
func (r *region) ran() {
	s := r.s
	switch r.tick {
	case s.warm():
		r.warm = s.now
	case s.Ticks:
		r.ending = s.now
	}
	if r.tick > s.warm() {
		s.times = append(s.times, s.now-r.began)
	}
	if s.embedded() && s.Replicas == 1 {
		r.send()
		return
	}
	s.write(r.process.machine, 0, r.bytes, r.send)
}

// send sends the message of the tick.
func (r *region) send() {
	s, tick := r.s, r.tick
	leader := r.stream.leader
	r.onTheWay++
	m := message{appending, s.costs.Append.Of(r.bytes) / 2, r.bytes, func() {
		s.transfer(leader, r.process.machine, 0, func() { r.acknowledged(tick) })
		s.deliver(leader, delivering, r.bytes, func(to *process) {
			if to != r.process { // the owner has its message already
				s.arrive(to, tick)
			}
		})
	}}
	s.transfer(r.process.machine, leader, r.bytes, func() { r.stream.append(m) })
	r.goOn()
}

// acknowledged notes that the message of a tick is in the outbox.
func (r *region) acknowledged(tick int) {
	r.onTheWay--
	r.s.arrive(r.process, tick)
	if r.full {
		r.goOn()
	}
}

// goOn goes on after a tick, unless too many messages are on their way.
func (r *region) goOn() {
	s := r.s
	if r.full = r.onTheWay >= s.Lookahead; r.full {
		return
	}
	turn := 0
	if s.Every > 0 {
		turn = s.Every * r.number / s.Regions
	}
	switch {
	case s.Every > 0 && !r.saving && (r.tick+turn)%s.Every == 0:
		r.save()
	case r.stored:
		r.saving, r.stored = false, false
		r.point(s.Regions + callsOfPointer)
	default:
		r.next()
	}
}

// warm is the tick after which the regions count as being in a steady state.
func (s *simulation) warm() int { return min(max(s.Ticks/10, 2*s.Lookahead), s.Ticks/2) }
