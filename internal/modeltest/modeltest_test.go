package modeltest

import (
	"errors"
	"testing"
)

func TestStream(t *testing.T) {
	s := NewStream([]byte{7, 127, 128, 200, 255, 255})
	if s.Byte() != 7 || s.Below(100) != 27 || s.Below(1000) != 200 || s.Below(1<<20) != 127<<8|255 ||
		s.More() {
		t.Error("Byte or Below returned a wrong number")
	}
	if s.Byte() != 0 || s.Below(5) != 0 {
		t.Error("a stream at its end does not return zeros")
	}
	if data := RandomBytes(t, 100); len(data) != 100 || !NewStream(data).More() {
		t.Errorf("RandomBytes returned %d bytes, want 100", len(data))
	}
}

func TestPanicText(t *testing.T) {
	for want, f := range map[string]func(){
		"": func() {}, "text": func() { panic("text") }, "error": func() { panic(errors.New("error")) },
		"3": func() { panic(3) },
	} {
		if got := PanicText(f); got != want {
			t.Errorf("PanicText returned %q, want %q", got, want)
		}
	}
}
