package clocktest

import (
	"testing"
	"time"

	"github.com/vastgo/vast/internal/clock"
)

func TestBubble(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		began := clock.Now()
		time.Sleep(time.Hour)
		if passed := clock.Now() - began; passed != time.Hour {
			t.Errorf("%v passed in an hour", passed)
		}
	})
	began := clock.Now()
	time.Sleep(time.Millisecond)
	if passed := clock.Now() - began; passed <= 0 || passed > time.Minute {
		t.Errorf("%v passed in a millisecond after a bubble", passed)
	}
}
