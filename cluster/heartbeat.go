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

// lease is the time during which no other process takes over the regions of this process. A lease begins when
// a heartbeat is sent, because other processes may see the heartbeat before this process gets the
// acknowledgement.
type lease struct {
	mu      sync.Mutex
	until   time.Time
	renewed chan struct{} // closed when the lease is renewed
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

// held is protocol.Options.Held of a region. If the lease has expired, held waits until a heartbeat renews
// the lease. It returns false if another process has taken the region over, or if ctx has ended.
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

// heart is what a process needs to send heartbeats.
type heart struct {
	revision uint64 // revision of the last heartbeat
	foreign  string // another session that has sent a heartbeat with the name of this process
	host     string
	program  string
}

// startHeart sets the host, the program and the revision of n.heart. The revision is that of the heartbeat of
// an earlier session, or 0.
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
	var reported string
	for {
		err := n.beat(ctx, false)
		if ctx.Err() != nil {
			return
		}
		// An error that repeats is reported once. DeadlineExceeded is not reported here, because package
		// storage reports that the server does not answer.
		text := fmt.Sprint(err)
		if err == nil {
			reported = ""
		} else if text != reported && !errors.Is(err, context.DeadlineExceeded) {
			n.report(err)
			reported = text
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-n.beatNow:
		}
	}
}

// beat sends a heartbeat. leaves is true if the process leaves the cluster.
func (n *Node) beat(ctx context.Context, leaves bool) error {
	now := time.Now()
	h := heartbeat{Session: n.session, Lease: n.o.Lease.Milliseconds(), Left: leaves, Host: n.heart.host,
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
			if !leaves {
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

// refusedBeat finds out why a heartbeat was refused: an acknowledgement was lost, the server has lost
// heartbeats, or another process has the same name. The node fails if refusedBeat finds heartbeats of the
// same other session twice: only a session that still runs sends a second heartbeat.
func (n *Node) refusedBeat(ctx context.Context, key string) error {
	b, revision, err := n.get(ctx, key)
	if err != nil {
		return fmt.Errorf("reading the heartbeat of this process: %w", err)
	}
	n.heart.revision = revision
	var h heartbeat
	if json.Unmarshal(b, &h) != nil || h.Session == n.session {
		return nil
	}
	if h.Session == n.heart.foreign {
		err := fmt.Errorf("a process on %s also has the name %s, because it uses a copy of the folder %s; "+
			"give one of the two processes another folder", h.Host, n.process, n.o.Dir)
		n.fail(err)
		return err
	}
	n.heart.foreign = h.Session
	return nil
}

// set sets a key like storage.Storage.Set, but gives up after a lease, because the value may then be
// outdated.
func (n *Node) set(ctx context.Context, key string, value any, revision uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, n.o.Lease)
	defer cancel()
	return n.storage.Set(ctx, key, encode(value), revision)
}

// get gets a key like storage.Storage.Get, but gives up after a lease.
func (n *Node) get(ctx context.Context, key string) ([]byte, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, n.o.Lease)
	defer cancel()
	return n.storage.Get(ctx, key)
}
