package plan

const (
	// bytesChunk is the size of a chunk of a checkpoint. The server syncs each chunk.
	bytesChunk = 512 << 10
	// callsOfPointer is the number of requests that a region sends after it has replaced its pointer (see the
	// package documentation), without the requests that read the pointers of all regions.
	callsOfPointer = 5
	bytesPointer   = 400
)

// save computes a checkpoint, and begins to store it.
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

// store stores the remaining bytes of a checkpoint in chunks, while the ticks of the region run.
func (r *region) store(remaining float64) {
	s := r.s
	chunk := min(remaining, bytesChunk)
	half := s.costs.Store * chunk / 1000 / 2
	r.process.cores.do(s.work(saving, half), func() {
		leader := s.objects.leader
		s.transfer(r.process.machine, leader, chunk, func() {
			s.objects.append(message{saving, half, chunk, func() {
				if remaining <= chunk {
					r.stored = true
				}
			}})
		})
		if remaining > chunk {
			r.store(remaining - chunk)
		}
	})
}

// point replaces the pointer, and then sends a number of requests, one after the other. The region waits
// until all requests are answered.
func (r *region) point(calls int) {
	s, began := r.s, r.s.now
	s.keys.append(message{pointing, s.costs.Append.Of(bytesPointer), bytesPointer, func() {
		r.call(calls, func() {
			s.paused += s.now - began
			r.next()
		})
	}})
}

// call sends count requests to the server one after the other, and then calls done.
func (r *region) call(count int, done func()) {
	if count == 0 {
		done()
		return
	}
	s, server := r.s, r.s.keys.leader
	s.transfer(r.process.machine, server, 0, func() {
		server.cores.do(s.work(pointing, s.costs.Call), func() {
			s.transfer(server, r.process.machine, 0, func() { r.call(count-1, done) })
		})
	})
}
