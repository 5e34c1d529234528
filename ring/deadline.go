package ring

import (
	"sync"
	"time"
)

// deadline is the time after which the reader or the writer no longer waits.
type deadline struct {
	mu       sync.Mutex
	reached  chan struct{} // closed when the deadline passes
	passed   bool          // whether reached is closed
	ended    bool          // whether end was called: set then has no effect
	timer    *time.Timer
	settings int // number of calls of set and end; tells a timer that its deadline was replaced
}

func (d *deadline) init() { d.reached = make(chan struct{}) }

// channel returns the channel that is closed when the deadline passes. set keeps an open channel, so a new
// deadline also applies to a wait that has begun.
func (d *deadline) channel() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reached
}

// set makes t the deadline. The zero time removes the deadline.
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

// end removes the deadline of a closed ring, so that no timer keeps the ring alive.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
	d.ended = true
}

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
