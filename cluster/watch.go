package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/vastgo/vast/cluster/internal/protocol"
	"github.com/vastgo/vast/cluster/internal/storage"
)

// watch keeps the view up to date until the context ends.
func (n *Node) watch(ctx context.Context) {
	for ctx.Err() == nil {
		n.watchOnce(ctx)
		sleep(ctx, n.o.Lease/20)
	}
}

// watchOnce keeps the view up to date until the context or the watch of the keys ends, until changes no
// longer arrive, or until the method change requests a new watch.
func (n *Node) watchOnce(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n.view.begin()
	began := time.Now()
	entries, err := n.storage.Watch(ctx, keyCluster, keyProcess+".*", keyOwner+".*", keyStatus+".*",
		keyPlace+".*", keyDrain+".*")
	if err != nil {
		if n.away.Load() == nil && ctx.Err() == nil {
			n.report(err)
		}
		return
	}
	ticker := time.NewTicker(n.o.Lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done(): // if the server does not answer, the channel of entries stays open for some time
			return
		case e, ok := <-entries:
			switch {
			case !ok:
				return
			case e.Key == "":
				n.view.complete(time.Now())
			default:
				n.told(e)
			}
			if e.Key == keyCluster {
				poke(n.beatNow) // the next heartbeat answers a new proposal
			}
			poke(n.settleNow)
		case <-n.watchNow:
			return
		case <-ticker.C:
			// If the server acknowledges the heartbeats of this process, but this watch does not deliver
			// them, a new watch must begin.
			holds, _ := n.lease.holds()
			now := time.Now()
			if holds && now.Sub(began) > n.o.Lease && now.Sub(n.view.heard()) > n.o.Lease {
				return
			}
		}
	}
}

func (n *Node) told(e storage.Entry) {
	if err := n.view.tell(e, time.Now()); err != nil {
		n.report(err)
	}
}

// change sets a key if the key has the given revision, tells the view the new value, and returns true.
// Otherwise change returns false. If the key has a later revision, change tells the view the present value.
// If it has an earlier revision, change requests a new watch.
func (n *Node) change(ctx context.Context, key string, value any, revision uint64) bool {
	now, err := n.set(ctx, key, value, revision)
	if err == nil {
		n.told(storage.Entry{Key: key, Value: encode(value), Revision: now})
		return true
	}
	if errors.Is(err, protocol.ErrRefused) {
		var b []byte
		if b, now, err = n.get(ctx, key); err == nil && now > revision {
			n.told(storage.Entry{Key: key, Value: b, Revision: now})
		} else if err == nil && now < revision {
			poke(n.watchNow) // the server has lost changes of keys
		}
	}
	// DeadlineExceeded is not reported here: package storage reports that the server does not answer.
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
		n.report(err)
	}
	return false
}
