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
			t.Errorf("the clock advanced by %v in an hour", passed)
		}
	})
	began := clock.Now()
	time.Sleep(time.Millisecond)
	if passed := clock.Now() - began; passed <= 0 || passed > time.Minute {
		t.Errorf("after the bubble, the clock advanced by %v in a sleep of a millisecond", passed)
	}
}
