package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/longtest"
)

// growing is a machine for tests. In version 1, states and sections have one number more than in version 0.
type growing struct {
	w               *growth
	region, version int
	tick            uint64
	sum             uint64
	received        uint64 // number of bytes of received sections since the upgrade
	before          string // the argument of Upgraded, or empty
}

// growth is what all machines of a test share.
type growth struct {
	slow time.Duration // how long a tick sleeps

	mu      sync.Mutex
	ran     map[int][]uint64 // by region: the last tick of version 0 and the first tick of version 1
	wrong   error
	schemas []string // the arguments of Upgraded
}

const growingLookahead = 3

func (g *growth) machine(version int) func(region int) (Machine, error) {
	return func(region int) (Machine, error) {
		return &growing{w: g, region: region, version: version}, nil
	}
}

func (g *growing) fail(format string, args ...any) {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	g.w.wrong = errors.Join(g.w.wrong, fmt.Errorf(format, args...))
}

func (g *growing) Tick(tick uint64, received, _ [][]byte) ([][]byte, Hash, error) {
	time.Sleep(g.w.slow)
	if tick != g.tick+1 {
		g.fail("tick %d after tick %d", tick, g.tick)
	}
	g.tick = tick
	g.w.mu.Lock()
	ran := g.w.ran[g.region]
	switch {
	case g.version == 0:
		g.w.ran[g.region] = []uint64{tick}
	case len(ran) == 1:
		g.w.ran[g.region] = append(ran, tick)
	}
	g.w.mu.Unlock()
	for _, section := range received {
		if g.version == 0 && len(section) != 8 || g.version == 1 && len(section) != 16 && g.before != "one" {
			g.fail("tick %d of version %d got a section of %d bytes, and Upgraded got the schema %q", tick,
				g.version, len(section), g.before)
		}
		g.sum += binary.LittleEndian.Uint64(section)
		g.received += uint64(len(section))
	}
	section := binary.LittleEndian.AppendUint64(nil, g.sum+uint64(g.region)+1)
	if g.version == 1 {
		section = binary.LittleEndian.AppendUint64(section, g.received)
	}
	return [][]byte{section, section, section}, Hash{byte(g.sum)}, nil
}

func (g *growing) Save() ([]byte, error) {
	b := binary.LittleEndian.AppendUint64(nil, g.tick)
	b = binary.LittleEndian.AppendUint64(b, g.sum)
	if g.version == 1 {
		b = binary.LittleEndian.AppendUint64(b, g.received)
	}
	return b, nil
}

func (g *growing) Load(b []byte) error {
	g.tick, g.sum = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	switch {
	case len(b) == 24 && g.version == 1:
		g.received = binary.LittleEndian.Uint64(b[16:])
	case len(b) != 16:
		g.fail("a machine of version %d loads a state of %d bytes", g.version, len(b))
	}
	return nil
}

func (g *growing) Upgraded(schema string) error {
	g.before = schema
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	g.w.schemas = append(g.w.schemas, schema)
	return nil
}

func (g *growing) Close() error { return nil }

// TestUpgrade replaces the program while the regions run. Two processes of the new program join at the same
// time, and one of them dies after the upgrade.
func TestUpgrade(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	g := &growth{slow: 2 * time.Millisecond, ran: make(map[int][]uint64)}
	w := newWorld(3, 0)
	options := func(url string, version int) Options {
		o := w.options(t, url)
		o.Lookahead, o.New = growingLookahead, g.machine(version)
		o.Build, o.Schema = "first", "one"
		if version == 1 {
			o.Build, o.Schema, o.Upgrade = "second", "two", true
		}
		return o
	}
	o := options("", 0)
	o.Listen = "127.0.0.1:0"
	a := join(t, o)
	b := join(t, options(a.URL(), 0))
	until(t, "the regions run", func() bool { return least(a) > 50 })

	refused := options(a.URL(), 1)
	refused.Upgrade = false
	if _, err := Join(deadline(t), refused); err == nil || !strings.Contains(err.Error(), "Build differs") ||
		!strings.Contains(err.Error(), "Upgrade") {
		t.Errorf("Join of a process with another build returned %v", err)
	}

	followed := make(chan error, 1)
	go func() { followed <- b.Follow(context.Background(), 0, func(Machine, uint64) {}) }()
	nodes := make([]*Node, 2)
	var joins sync.WaitGroup
	for i := range nodes {
		joins.Go(func() {
			var err error
			if nodes[i], err = tryJoin(t, options(a.URL(), 1)); err != nil {
				t.Error(err)
			}
		})
	}
	joins.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, old := range []*Node{a, b} {
		if err := old.Wait(deadline(t)); !errors.Is(err, ErrUpgraded) {
			t.Errorf("Wait of the old program returned %v", err)
		}
	}
	if err := <-followed; !errors.Is(err, ErrUpgraded) {
		t.Errorf("Follow of the old program returned %v", err)
	}
	closeAll(t, b) // a keeps running, because it has the server
	c := nodes[0]
	until(t, "both new processes run regions", func() bool {
		l := loads(c, nodes[1])
		return sum(l) == 3 && slices.Min(l) > 0
	})
	from := c.view.first()
	until(t, "the new program runs", func() bool { return least(c) > from })
	if err := nodes[1].kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "one new process has all regions", func() bool { return loads(c)[0] == 3 })
	reached := least(c)
	until(t, "the regions run again", func() bool { return least(c) > reached+50 })
	last := join(t, options(a.URL(), 1)) // the cluster already has this version
	until(t, "the process that has joined last runs a region", func() bool { return loads(last)[0] > 0 })

	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wrong != nil {
		t.Error(g.wrong)
	}
	for region := range 3 {
		if ran := g.ran[region]; len(ran) != 2 || ran[0] != from-1 || ran[1] != from {
			t.Errorf("region %d: the last tick of the first program and the first tick of the second are "+
				"%d, want %d and %d", region, ran, from-1, from)
		}
	}
	if len(g.schemas) < 3 || slices.ContainsFunc(g.schemas, func(s string) bool { return s != "one" }) {
		t.Errorf("Upgraded got the schemas %q, want only \"one\", at least three times", g.schemas)
	}
}

// TestUpgradeOfAnEndedCluster: the second program runs the ticks after the last tick of the first program.
func TestUpgradeOfAnEndedCluster(t *testing.T) {
	t.Parallel()
	w := newWorld(2, 30)
	o := w.options(t, "")
	o.Build = "first"
	n := join(t, o)
	wait(t, n)
	closeAll(t, n)
	w.check(t, 2, nil)

	more := newWorld(2, 60)
	o.Build, o.Upgrade, o.Until, o.New = "second", true, 60, more.machine
	n = join(t, o)
	if from := n.view.first(); from != 31 {
		t.Errorf("the second program begins with tick %d, want 31", from)
	}
	wait(t, n)
	closeAll(t, n)
	more.check(t, 2, nil)

	o.Build, o.Upgrade = "first", false
	// A process of the first program may join, although it has no more ticks to run.
	if _, err := Join(deadline(t), o); err != nil {
		t.Error(err)
	}
}

func TestUpgradeWithoutTheOldProgram(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	w := newWorld(2, 0)
	w.slow.Store(int64(time.Millisecond))
	o := w.options(t, "")
	o.Build, o.Lease = "first", 100*time.Millisecond
	n := join(t, o)
	until(t, "the regions run", func() bool { return least(n) > 10 })
	closeAll(t, n)

	o.Build, o.Upgrade = "second", true
	_, err := Join(deadline(t), o)
	if err == nil || !strings.Contains(err.Error(), "an owner of region 1") ||
		!strings.Contains(err.Error(), "old program must run") {
		t.Errorf("Join returned %v", err)
	}
	o.Build, o.Upgrade = "first", false // the failed upgrade has changed nothing
	n = join(t, o)
	before := least(n)
	until(t, "the regions run again", func() bool { return least(n) > before+10 })
	closeAll(t, n)
}

// TestProposal checks how a process answers proposals, and that the proposal of an ended session is
// removed.
func TestProposal(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	w := newWorld(1, 0)
	w.slow.Store(int64(2 * time.Millisecond))
	o := w.options(t, "")
	o.Build, o.Lease = "first", 200*time.Millisecond
	n := join(t, o)
	until(t, "the region runs", func() bool { return least(n) > 10 })
	propose := func(from uint64, session string) uint64 {
		t.Helper()
		for {
			c := n.view.copyConstants()
			c.value.Next = &proposal{version{From: from, Build: "second"}, n.process, session}
			if n.change(deadline(t), keyCluster, c.value, c.revision) {
				return n.view.copyConstants().revision
			}
		}
	}
	answer := func(revision uint64) (late bool) {
		until(t, "the process answers", func() bool {
			h := n.view.member(n.process).value
			late = h.Late
			return h.Proposal == revision
		})
		return late
	}
	if !answer(propose(2, n.session)) {
		t.Error("the process accepts a proposal for a tick that it has run")
	}
	next := least(n) + 400
	if answer(propose(next, n.session)) {
		t.Error("the process rejects a proposal for a future tick")
	}
	until(t, "the region waits", func() bool { return n.regions[0].tick.Load() == next-1 })
	time.Sleep(50 * time.Millisecond)
	if tick := n.regions[0].tick.Load(); tick != next-1 {
		t.Errorf("tick %d has run, although another version is proposed from tick %d on", tick, next)
	}
	propose(next, "a session that has ended")
	until(t, "the proposal is removed", func() bool { return n.view.copyConstants().value.Next == nil })
	until(t, "the region continues", func() bool { return least(n) > next+10 })
	closeAll(t, n)
}
