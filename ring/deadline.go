package ring

import (
	"sync"
	"time"
)

// deadline is a time from which on a side does not wait.
type deadline struct {
	mu       sync.Mutex
	reached  chan struct{} // closed when the time has come
	passed   bool
	ended    bool // it cannot be set any more
	timer    *time.Timer
	settings int // how often it was set: a timer of an earlier setting does nothing
}

func (d *deadline) init() { d.reached = make(chan struct{}) }

// channel returns the channel that is closed when the deadline passes. It stays the same while the deadline has not
// passed, however often it is set, so that whoever waits hears of a new one.
func (d *deadline) channel() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reached
}

// set makes t the deadline; the zero time is none.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
	if d.ended {
		return
	}
	if d.passed {
		d.passed, d.reached = false, make(chan struct{})
	}
	if t.IsZero() {
		return
	}
	wait := time.Until(t)
	if wait <= 0 {
		d.pass()
		return
	}
	setting := d.settings
	d.timer = time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.settings == setting {
			d.pass()
		}
	})
}

// end withdraws the deadline for good: nothing waits any more, and no timer keeps the ring.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
	d.ended = true
}

// stop withdraws the timer.
func (d *deadline) stop() {
	d.settings++
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

func (d *deadline) pass() {
	d.passed = true
	close(d.reached)
}
