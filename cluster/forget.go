package cluster

import (
	"context"
	"time"

	"github.com/vastgo/vast/cluster/internal/storage"
)

// A folder of a process may vanish. The keys of the process then stay until other processes remove them. A
// process that comes back later finds no keys, like a new one.

const (
	// mostSilent is how long the keys of a process stay after its last heartbeat.
	mostSilent = 30 * 24 * time.Hour
	// forgetsIn is how often a process looks for such keys in this time.
	forgetsIn = 720
)

// forget removes the keys of processes that are silent for long, from time to time. One goroutine calls it.
func (n *Node) forget(ctx context.Context) {
	now, silence := time.Now(), time.Duration(n.silence.Load())
	if now.Sub(n.forgot) < silence/forgetsIn {
		return
	}
	n.forgot = now
	for _, e := range n.view.silent(now, silence) {
		if err := n.remove(ctx, e); err != nil {
			return // package storage has reported it, and another process may have more luck
		}
		n.view.removed(e)
	}
}

// remove removes a key, unless it has changed, and gives up after a lease.
func (n *Node) remove(ctx context.Context, e storage.Entry) error {
	ctx, cancel := context.WithTimeout(ctx, n.o.Lease)
	defer cancel()
	return n.storage.Remove(ctx, e.Key, e.Revision)
}

// silent returns the keys of the other processes that own no region and whose last heartbeat is older than a
// time. The server tells the times of all heartbeats, so the clocks of the processes do not count.
func (v *view) silent(now time.Time, silence time.Duration) (keys []storage.Entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	own := v.processes[v.process]
	if own == nil || own.sent.IsZero() {
		return nil
	}
	owners := make(map[string]bool)
	for _, o := range v.owners {
		owners[o.value.Process] = true
	}
	for name, m := range v.processes {
		if name == v.process || m.sent.IsZero() || own.sent.Sub(m.sent) <= silence || owners[name] ||
			v.lives(m, now) {
			continue
		}
		if d, ok := v.drains[name]; ok {
			keys = append(keys, storage.Entry{Key: drainKey(name), Revision: d.revision})
		}
		// This key goes last: as long as it is there, the process is found again.
		keys = append(keys, storage.Entry{Key: processKey(name), Revision: m.revision})
	}
	return keys
}

// removed forgets a key that was removed.
func (v *view) removed(e storage.Entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, m := range v.processes {
		if e.Key == processKey(name) && m.revision == e.Revision {
			delete(v.processes, name)
		}
	}
	for name, d := range v.drains {
		if e.Key == drainKey(name) && d.revision == e.Revision {
			delete(v.drains, name)
		}
	}
}
