package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/vastgo/vast/cluster/internal/protocol"
)

// lease is the time up to which no other process takes the regions of this one over. It begins when a
// heartbeat was sent, not when it was acknowledged: the other processes may see the heartbeat at once.
type lease struct {
	mu      sync.Mutex
	until   time.Time
	renewed chan struct{} // closed when until is set
}

func (l *lease) renew(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
	close(l.renewed)
	l.renewed = make(chan struct{})
}

func (l *lease) holds() (bool, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Before(l.until), l.renewed
}

// held is protocol.Options.Held of a region. It waits while the lease has expired: if the server was away, no
// process could take the region over, and if one can, this process is told.
func (n *Node) held(ctx context.Context, region int) bool {
	for {
		holds, renewed := n.lease.holds()
		switch {
		case ctx.Err() != nil || n.view.owner(region).value.Session != n.session:
			return false
		case holds:
			return true
		}
		select {
		case <-renewed:
		case <-ctx.Done():
		}
	}
}

// heart sends heartbeats.
type heart struct {
	revision uint64 // of the last one
	foreign  string // another session of the process that was seen
	host     string
	program  string
}

// start reads the heartbeat of an earlier session.
func (n *Node) startHeart(ctx context.Context) (err error) {
	n.heart.host, _ = os.Hostname() // for operators only
	if program, err := os.Executable(); err == nil {
		n.heart.program = filepath.Base(program)
	}
	_, n.heart.revision, err = n.storage.Get(ctx, processKey(n.process))
	return err
}

// keepAlive sends heartbeats until the context ends.
func (n *Node) keepAlive(ctx context.Context) {
	ticker := time.NewTicker(n.o.Lease / 3)
	defer ticker.Stop()
	var told string
	for {
		err := n.beat(ctx, false)
		if ctx.Err() != nil {
			return
		}
		// The same reason is reported once. That the server is away is reported by package storage.
		if text := fmt.Sprint(err); err != nil && text != told && !errors.Is(err, context.DeadlineExceeded) {
			n.report(err)
			told = text
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-n.beatNow:
		}
	}
}

// beat sends a heartbeat.
func (n *Node) beat(ctx context.Context, left bool) error {
	now := time.Now()
	h := heartbeat{Session: n.session, Lease: n.o.Lease.Milliseconds(), Left: left, Host: n.heart.host,
		Program: n.heart.program, System: runtime.GOOS + "/" + runtime.GOARCH}
	h.From, h.Proposal, h.Late = n.view.keepsTo()
	h.Draining = n.drains()
	n.mu.Lock()
	h.Failing = now.Before(n.failing)
	n.mu.Unlock()
	key := processKey(n.process)
	for {
		sent := time.Now()
		revision, err := n.set(ctx, key, h, n.heart.revision)
		if err == nil {
			n.heart.revision = revision
			if !left {
				n.lease.renew(sent.Add(n.o.Lease))
			}
			return nil
		}
		if !errors.Is(err, protocol.ErrRefused) {
			return fmt.Errorf("sending a heartbeat: %w", err)
		}
		if err := n.refusedBeat(ctx, key); err != nil {
			return err
		}
	}
}

// refusedBeat finds out why a heartbeat was refused: its answer was lost, the server has lost heartbeats, or
// another process has the same name. The other one then overwrites this session again and again; a session
// that has ended appears at most once.
func (n *Node) refusedBeat(ctx context.Context, key string) error {
	b, revision, err := n.get(ctx, key)
	if err != nil {
		return fmt.Errorf("reading the own heartbeat: %w", err)
	}
	n.heart.revision = revision
	var h heartbeat
	if json.Unmarshal(b, &h) != nil || h.Session == n.session {
		return nil
	}
	if h.Session == n.heart.foreign {
		err := fmt.Errorf("a process on %s has the name %s, too: it uses a copy of the folder %s; give it a "+
			"folder of its own", h.Host, n.process, n.o.Dir)
		n.fail(err)
		return err
	}
	n.heart.foreign = h.Session
	return nil
}

// set and get are those of the storage, and give up after a lease. A value that is set later says what this
// process no longer knows.
func (n *Node) set(ctx context.Context, key string, value any, revision uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, n.o.Lease)
	defer cancel()
	return n.storage.Set(ctx, key, encode(value), revision)
}

func (n *Node) get(ctx context.Context, key string) ([]byte, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, n.o.Lease)
	defer cancel()
	return n.storage.Get(ctx, key)
}
