package cluster

import (
	"context"
	"time"

	"github.com/vastgo/vast/cluster/internal/storage"
)

// The name of a process is in its folder. If the folder is deleted, the process gets a new name at its next
// start, and no heartbeat comes with the old name. If no heartbeat comes with a name for a long time, other
// processes remove the keys of this name. If a process with this name starts later, it is like a new process.

const (
	// maxSilent is how long the keys of a process stay after its last heartbeat.
	maxSilent = 30 * 24 * time.Hour
	// checksInSilence is how many times a process looks for old keys during the time maxSilent.
	checksInSilence = 720
)

// forget removes the keys of processes that have sent no heartbeat for a long time. It does nothing if the
// last search for such keys was a short time ago. Only one goroutine may call it.
func (n *Node) forget(ctx context.Context) {
	now, silence := time.Now(), time.Duration(n.silence.Load())
	if now.Sub(n.forgot) < silence/checksInSilence {
		return
	}
	n.forgot = now
	for _, e := range n.view.silent(now, silence) {
		if err := n.remove(ctx, e); err != nil {
			return // another process, or a later call, tries again
		}
		n.view.removed(e)
	}
}

// remove removes a key if it still has the revision of e. It gives up after the duration of a lease.
func (n *Node) remove(ctx context.Context, e storage.Entry) error {
	ctx, cancel := context.WithTimeout(ctx, n.o.Lease)
	defer cancel()
	return n.storage.Remove(ctx, e.Key, e.Revision)
}

// silent returns the keys of other processes that have sent no heartbeat for longer than silence. It leaves
// out owners of regions, and last owners of regions without an owner. The times of heartbeats are those of
// the server's clock, because the clocks of the processes may differ.
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
		// The heartbeat is removed last: while it exists, a later call finds the process again.
		keys = append(keys, storage.Entry{Key: processKey(name), Revision: m.revision})
	}
	return keys
}

// removed removes a key from the view if the key still has the revision of e.
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
