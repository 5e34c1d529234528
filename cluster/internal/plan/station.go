package plan

import "time"

// station is the cores of a machine, its disk, or its line to the network. It begins jobs in the order in
// which they come.
type station struct {
	events *events
	places int // number of jobs that the station does in parallel
	// slice is the time after which an unfinished job goes to the end of the queue, if other jobs wait.
	// 0 means that a job is never interrupted.
	slice time.Duration
	doing int // number of jobs that the station does now
	queue []job
	first int           // index of the first job in queue
	busy  time.Duration // sum of the busy times of all places
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

// utilisation returns the share of the time in which the average place is busy.
func (s *station) utilisation() float64 {
	if s.events.now == 0 {
		return 0
	}
	return float64(s.busy) / float64(s.events.now) / float64(s.places)
}
