package earth

import (
	"sync"
	"time"
)

// control connects the driver with the keys of the screen and with the inspector's page. It implements
// inspect.Control and inspect.Pacer. Any goroutine may call its methods.
type control struct {
	budget time.Duration // the time that a tick may take
	poke   chan struct{} // holds a token after a change of the pause or the steps

	mu      sync.Mutex
	paused  bool
	steps   int    // ticks to run during the pause
	late    uint64 // ticks that began at least one period of the driver after they were due
	dropped uint64 // missed ticks that the driver did not run
}

func newControl(budget time.Duration) *control {
	return &control{budget: budget, poke: make(chan struct{}, 1)}
}

// Pace implements inspect.Pacer.
func (c *control) Pace() (budget time.Duration, late, dropped uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.budget, c.late, c.dropped
}

func (c *control) countLate(dropped uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late++
	c.dropped += dropped
}

// Pause stops the ticks.
func (c *control) Pause() { c.change(func() { c.paused, c.steps = true, 0 }) }

// Resume ends a pause.
func (c *control) Resume() { c.change(func() { c.paused, c.steps = false, 0 }) }

// Step pauses the run after a number of further ticks.
func (c *control) Step(ticks int) {
	c.change(func() { c.paused, c.steps = true, c.steps+max(ticks, 0) })
}

// Paused reports whether the ticks are paused.
func (c *control) Paused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused
}

func (c *control) toggle() {
	c.change(func() { c.paused, c.steps = !c.paused, 0 })
}

func (c *control) change(f func()) {
	c.mu.Lock()
	f()
	c.mu.Unlock()
	select {
	case c.poke <- struct{}{}:
	default: // poke already holds a token
	}
}

// mayTick reports whether the run is paused, and whether ticks of a Step remain.
func (c *control) mayTick() (paused, step bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused, c.steps > 0
}

func (c *control) stepped() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps = max(c.steps-1, 0)
}
