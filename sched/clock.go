package sched

import "time"

// Clock is the time source of [Schedule.Run]. A test can set a Clock of its own in Options.Clock.
type Clock interface {
	// Now returns the time. A later call never returns an earlier time.
	Now() time.Time
	// Wait returns when d has passed or wake yields a value. If d is negative, only wake ends the wait.
	Wait(d time.Duration, wake <-chan struct{})
}

type realClock struct {
	timer *time.Timer // reused, so that Wait allocates nothing
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
