package plan

const (
	bytesChunk = 512 << 10 // of a checkpoint; the server syncs each
	// callsOfPointer are the requests when a pointer moves, besides one for the pointer of each region.
	callsOfPointer = 5
	bytesPointer   = 400
)

// save saves the state and begins to store it.
func (r *region) save() {
	c := r.s.costs
	bytes := c.BytesPlaces/float64(r.s.Regions) + c.BytesResident*r.travellers
	r.saving = true
	began := r.s.now
	r.work(r.s.work(saving, c.State.Of(bytes)), func() {
		r.s.paused += r.s.now - began
		r.store(bytes)
		r.next()
	})
}

// store stores what is left of a checkpoint, chunk by chunk, beside the ticks of the region.
func (r *region) store(left float64) {
	s := r.s
	chunk := min(left, bytesChunk)
	half := s.costs.Store * chunk / 1000 / 2
	r.process.cores.do(s.work(saving, half), func() {
		leader := s.objects.leader
		s.transfer(r.process.machine, leader, chunk, func() {
			s.objects.append(message{saving, half, chunk, func() {
				if left <= chunk {
					r.stored = true
				}
			}})
		})
		if left > chunk {
			r.store(left - chunk)
		}
	})
}

// point replaces the pointer, and then sends requests one after the other. The region waits for them.
func (r *region) point(calls int) {
	s, began := r.s, r.s.now
	s.keys.append(message{calling, s.costs.Append.Of(bytesPointer), bytesPointer, func() {
		r.call(calls, func() {
			s.paused += s.now - began
			r.next()
		})
	}})
}

// call sends requests to the server one after the other, and then calls done.
func (r *region) call(left int, done func()) {
	if left == 0 {
		done()
		return
	}
	s, server := r.s, r.s.keys.leader
	s.transfer(r.process.machine, server, 0, func() {
		server.cores.do(s.work(calling, s.costs.Call), func() {
			s.transfer(server, r.process.machine, 0, func() { r.call(left-1, done) })
		})
	})
}
