package inspect

// historyLength is the number of kept samples: one a second for ten minutes.
const historyLength = 600

// history holds the newest samples. No samples are taken while the last request is older than watchTime.
type history struct {
	samples []Sample // a ring once it has historyLength samples
	next    int      // index of the oldest sample in a full ring
}

func (h *history) add(s Sample) {
	if len(h.samples) < historyLength {
		h.samples = append(h.samples, s)
		return
	}
	h.samples[h.next] = s
	h.next = (h.next + 1) % historyLength
}

// last returns the newest sample, if there is one.
func (h *history) last() (s Sample, ok bool) {
	if len(h.samples) == 0 {
		return Sample{}, false
	}
	return h.samples[(h.next+len(h.samples)-1)%len(h.samples)], true
}

// since returns a copy of the samples taken after a time in seconds since 1970, the oldest first.
func (h *history) since(at float64) []Sample {
	list := make([]Sample, 0, len(h.samples))
	for i := range h.samples {
		if s := h.samples[(h.next+i)%len(h.samples)]; s.At > at {
			list = append(list, s)
		}
	}
	return list
}
