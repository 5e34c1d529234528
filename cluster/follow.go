package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vastgo/vast/cluster/internal/protocol"
)

// Follow runs the ticks of a region again in this process, some ticks behind the owner of the region. It
// calls afterTick after each tick. The function afterTick may read the machine, and must not change it. A
// process that follows a region can show, query or check it without load on the owner: see Options.Observe.
// Follow ends after the tick Options.Until, or when the context or the node ends. After an upgrade of the
// cluster, Follow returns [ErrUpgraded] after the last tick of this process's program.
//
// Follow begins at the newest checkpoint. After an error, Follow reports the error, and begins again with a
// new machine. If messages or inputs were removed before Follow could read them, it begins again without a
// report.
//
// If the machine computes another result than the owner's machine, and has the method Compare, Follow runs
// the machine up to the owner's next checkpoint, and compares the states there. The reported error says what
// differs.
func (n *Node) Follow(ctx context.Context, region int, afterTick func(m Machine, tick uint64)) error {
	if err := n.check(region); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(n.ctx, func() { cancel(context.Cause(n.ctx)) })()
	pause := minPause
	for {
		began := time.Now()
		err := n.followOnce(ctx, region, afterTick)
		switch {
		case err == nil && n.view.last() != n.o.Until:
			return ErrUpgraded
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.Is(err, protocol.ErrGone): // ErrGone says that the follower was too slow
			n.report(err)
		}
		if time.Since(began) > maxPause {
			pause = minPause
		}
		sleep(ctx, pause)
		pause = min(2*pause, maxPause)
	}
}

func (n *Node) followOnce(ctx context.Context, region int, afterTick func(m Machine, tick uint64)) error {
	m, err := n.o.New(region)
	if err != nil {
		return fmt.Errorf("making the machine of region %d to follow it: %w", region, err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			n.report(fmt.Errorf("closing the machine that followed region %d: %w", region, err))
		}
	}()
	o := protocol.Options{Region: region, Regions: n.o.Regions, Lookahead: n.o.Lookahead, Storage: n.storage,
		Versions: n.view.versions, From: n.view.first(), Machine: &follower{m, n, afterTick},
		Until: n.o.Until, Report: n.report}
	o.Due = func(_ context.Context, tick uint64) error {
		if last := n.view.last(); last > 0 && tick > last {
			return protocol.ErrEnd
		}
		return nil
	}
	if c, ok := m.(interface{ Compare(state []byte) error }); ok {
		o.Compare = c.Compare
	}
	return protocol.Follow(ctx, o)
}

type follower struct {
	Machine
	n         *Node
	afterTick func(m Machine, tick uint64)
}

// Tick implements [protocol.Machine].
func (f *follower) Tick(tick uint64, received, inputs [][]byte) ([][]byte, protocol.Hash, error) {
	sections, state, err := f.Machine.Tick(tick, received, inputs)
	if err == nil {
		f.afterTick(f.Machine, tick)
	}
	return sections, protocol.Hash(state), err
}

// Load implements [protocol.Machine].
func (f *follower) Load(tick uint64, state []byte) error { return f.n.load(f.Machine, tick, state) }
