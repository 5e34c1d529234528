package inspect

// historyLength is the number of samples in ten minutes.
const historyLength = 600

// history holds the newest samples. It may have gaps, because the sampler stops when the last request is
// watchTime old.
type history struct {
	samples []Sample // a ring buffer of historyLength samples when full
	next    int      // index of the oldest sample
}

func (h *history) add(s Sample) {
	if len(h.samples) < historyLength {
		h.samples = append(h.samples, s)
		return
	}
	h.samples[h.next] = s
	h.next = (h.next + 1) % historyLength
}

func (h *history) last() (s Sample, ok bool) {
	if len(h.samples) == 0 {
		return Sample{}, false
	}
	return h.samples[(h.next+len(h.samples)-1)%len(h.samples)], true
}

// since returns the samples after a time, the oldest first. The time is in seconds since 1970.
func (h *history) since(at float64) []Sample {
	list := make([]Sample, 0, len(h.samples))
	for i := range h.samples {
		if s := h.samples[(h.next+i)%len(h.samples)]; s.At > at {
			list = append(list, s)
		}
	}
	return list
}
