package cluster

import (
	"sync"

	"github.com/vastgo/vast/cluster/internal/protocol"
)

// pulse has the newest tick that this process has seen of each region. A region that begins late uses these
// ticks to catch up. With only its own clock, the region would delay the other regions forever.
type pulse struct {
	lookahead uint64

	mu      sync.Mutex
	ticks   []uint64      // by region
	changed chan struct{} // closed at the next change
}

func newPulse(regions int, lookahead uint64) *pulse {
	return &pulse{lookahead: lookahead, ticks: make([]uint64, regions), changed: make(chan struct{})}
}

func (p *pulse) ran(region int, tick uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ticks[region] = tick
	close(p.changed)
	p.changed = make(chan struct{})
}

// told records the tick of an outbox message. It does not check the message, because a wrong message can only
// make a tick run too early.
func (p *pulse) told(region int, m []byte) {
	if tick, ok := protocol.TickOf(m); ok {
		p.ran(region, tick)
	}
}

// reached reports whether any region has run the tick. It ignores ticks that are further ahead than the
// lookahead allows. changed is closed when the result may have changed.
func (p *pulse) reached(tick uint64) (reached bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.ticks {
		reached = reached || at >= tick && at-tick <= p.lookahead
	}
	return reached, p.changed
}
