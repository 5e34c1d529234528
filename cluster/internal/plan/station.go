package plan

import "time"

// station is the cores of a machine, its disk, or its line to the network. It begins jobs in the order in
// which they come, and does several jobs at the same time.
type station struct {
	events *events
	places int           // how many jobs it does at the same time
	slice  time.Duration // if jobs wait, a job goes back to the end of the queue after this time; 0: never
	doing  int
	queue  []job
	first  int           // the index of the first job in queue
	busy   time.Duration // of all places together
}

type job struct {
	left time.Duration
	done func()
}

// do adds a job to the queue, and calls done when the job has ended.
func (s *station) do(takes time.Duration, done func()) {
	s.queue = append(s.queue, job{takes, done})
	s.begin()
}

// begin begins jobs while there are free places.
func (s *station) begin() {
	for s.doing < s.places && s.first < len(s.queue) {
		j := s.queue[s.first]
		s.queue[s.first] = job{}
		if s.first++; s.first > 64 && s.first*2 > len(s.queue) {
			s.queue, s.first = append(s.queue[:0], s.queue[s.first:]...), 0
		}
		s.doing++
		s.work(j)
	}
}

// work does a job until its end, or for a slice.
func (s *station) work(j job) {
	now := j.left
	if s.slice > 0 {
		now = min(now, s.slice)
	}
	j.left -= now
	s.events.after(now, func() {
		s.busy += now
		switch {
		case j.left == 0:
			s.doing--
			s.begin()
			j.done()
		case s.first == len(s.queue):
			s.work(j) // no other job waits
		default:
			s.doing--
			s.queue = append(s.queue, j)
			s.begin()
		}
	})
}

// utilisation returns the share of the time in which a place is busy, on average.
func (s *station) utilisation() float64 {
	if s.events.now == 0 {
		return 0
	}
	return float64(s.busy) / float64(s.events.now) / float64(s.places)
}
