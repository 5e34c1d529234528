package sched

import "time"

// Clock is the time that [Schedule.Run] goes by. Tests may put their own in its place.
type Clock interface {
	// Now returns the time, which must not go back.
	Now() time.Time
	// Wait returns when d has passed or something was received from wake; when d is negative it waits for wake only.
	Wait(d time.Duration, wake <-chan struct{})
}

// realClock is the Clock of real time.
type realClock struct {
	timer *time.Timer // kept, so that waiting allocates nothing
}

func newRealClock() *realClock {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &realClock{t}
}

func (c *realClock) Now() time.Time { return time.Now() }

func (c *realClock) Wait(d time.Duration, wake <-chan struct{}) {
	if d < 0 {
		<-wake
		return
	}
	c.timer.Reset(d)
	select {
	case <-c.timer.C:
	case <-wake:
		c.timer.Stop()
	}
}
