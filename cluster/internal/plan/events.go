package plan

import "time"

// events is the queue of the events of a simulation, in the order of time. Events of the same time run in the
// order in which they were added, so that a simulation always gives the same result.
type events struct {
	now   time.Duration
	added uint64
	heap  []event // binary heap: no event is later than its two children
}

type event struct {
	at     time.Duration
	number uint64
	happen func()
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.number < o.number }

// The method after adds an event that happens d after now. A negative d counts as 0.
func (s *events) after(d time.Duration, happen func()) {
	s.added++
	s.heap = append(s.heap, event{s.now + max(d, 0), s.added, happen})
	for i := len(s.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if s.heap[parent].before(&s.heap[i]) {
			return
		}
		s.heap[i], s.heap[parent] = s.heap[parent], s.heap[i]
		i = parent
	}
}

func (s *events) next() bool {
	if len(s.heap) == 0 {
		return false
	}
	first, last := s.heap[0], len(s.heap)-1
	s.heap[0], s.heap[last] = s.heap[last], event{}
	s.heap = s.heap[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if s.heap[child].before(&s.heap[least]) {
				least = child
			}
		}
		if least == i {
			break
		}
		s.heap[i], s.heap[least] = s.heap[least], s.heap[i]
		i = least
	}
	s.now = first.at
	first.happen()
	return true
}
