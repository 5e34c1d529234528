package storage

import "testing"

// A tail forgets old messages, and says then that only the server can tell.
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
				t.Errorf("message %d is known", number)
			}
		case number <= 100:
			if !known || e.number != number {
				t.Errorf("message %d: got %d, %v", number, e.number, known)
			}
		case !known || e.number != 0:
			t.Errorf("message %d, which does not exist: got %d, %v", number, e.number, known)
		}
	}
	// A message that is larger than a tail is left to the server.
	l.delivered(generation, entry{101, make([]byte, bytesTail+1)}, true)
	if _, known := l.find(101); known || l.bytes != 0 {
		t.Errorf("a message of more than a tail is known, and the tail has %d bytes", l.bytes)
	}
}
