package storage

import "testing"

func TestTailIsBounded(t *testing.T) {
	const size = bytesTail / 8
	var l tail
	generation := l.begin(1, 1)
	for i := range uint64(100) {
		l.delivered(generation, entry{i + 1, make([]byte, size)}, true)
		if l.bytes > bytesTail || len(l.entries)*size != l.bytes {
			t.Fatalf("after %d messages the tail has %d bytes in %d entries", i+1, l.bytes, len(l.entries))
		}
	}
	for number := uint64(1); number <= 101; number++ {
		e, known := l.find(number)
		switch {
		case number <= 92:
			if known {
				t.Errorf("find knows message %d, which the tail must have dropped", number)
			}
		case number <= 100:
			if !known || e.number != number {
				t.Errorf("find(%d) returned message %d, %v", number, e.number, known)
			}
		case !known || e.number != 0:
			t.Errorf("find(%d) returned message %d, %v, want no message, true", number, e.number, known)
		}
	}
	l.delivered(generation, entry{101, make([]byte, bytesTail+1)}, true)
	if _, known := l.find(101); known || l.bytes != 0 {
		t.Errorf("message 101 is larger than bytesTail: find returned %v, and the tail has %d bytes, want "+
			"false and 0", known, l.bytes)
	}
}
