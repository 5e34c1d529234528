package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/vastgo/vast/cluster/internal/storage"
	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/longtest"
)

var errKilled = errors.New("killed")

// kill ends a node without releasing its regions, like the death of the process.
func (n *Node) kill() error { return n.shutDown(errKilled) }

func (w *world) options(t *testing.T, url string) Options {
	return Options{Name: "test", Dir: filepath.Join(t.TempDir(), "process"), URL: url, Regions: w.regions,
		Lookahead: 2, Schema: "islanders", New: w.machine, Lease: 500 * time.Millisecond, Every: 20,
		Until: w.until, SyncInterval: time.Minute, Report: func(err error) { t.Log(err) }}
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// join joins a cluster, and closes the node at the end of the test.
func join(t *testing.T, o Options) *Node {
	t.Helper()
	n, err := tryJoin(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tryJoin is like join, but returns the error, so any goroutine may call it. It drops reports after the end
// of the test, because t.Log would panic.
func tryJoin(t *testing.T, o Options) (*Node, error) {
	var mu sync.Mutex
	over := false
	report := o.Report
	o.Report = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			report(err)
		}
	}
	n, err := Join(deadline(t), o)
	t.Cleanup(func() {
		if err == nil {
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		over = true
	})
	return n, err
}

func wait(t *testing.T, nodes ...*Node) {
	t.Helper()
	for _, n := range nodes {
		if err := n.Wait(deadline(t)); err != nil {
			t.Fatal(err)
		}
	}
}

func closeAll(t *testing.T, nodes ...*Node) {
	t.Helper()
	for _, n := range nodes {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

// until waits until holds returns true. what describes this condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("after 30 seconds, this is not the case: %s", what)
		}
	}
}

// loads returns the number of regions that each node runs, as the first node knows it.
func loads(nodes ...*Node) []int {
	count := make(map[string]int)
	for _, s := range nodes[0].Regions() {
		if !strings.Contains(s.Waiting, "process") { // these texts say that no process runs the region
			count[s.Process]++
		}
	}
	var numbers []int
	for _, n := range nodes {
		numbers = append(numbers, count[n.Process()])
	}
	return numbers
}

// least returns the tick of the slowest region.
func least(n *Node) uint64 {
	tick := ^uint64(0)
	for _, s := range n.Regions() {
		tick = min(tick, s.Tick)
	}
	return tick
}

func TestOneNode(t *testing.T) {
	t.Parallel()
	w := newWorld(4, 100)
	o := w.options(t, "")
	o.SyncInterval = 0
	n := join(t, o)
	if n.URL() != "" {
		t.Errorf("a server that does not listen has the URL %s", n.URL())
	}
	wait(t, n)
	for r, s := range n.Regions() {
		if s.Region != r || s.Process != n.Process() || s.Tick != 100 || s.Waiting != "" ||
			s.Failovers != 0 || s.Moves != 0 || !strings.HasPrefix(string(s.Machine), `{"people":`) {
			t.Errorf("region %d is %+v with the machine %s, want tick 100, and no waiting, failover or move",
				r, s, s.Machine)
		}
	}
	closeAll(t, n)
	w.check(t, 2, nil)
	if err := n.Wait(deadline(t)); err != nil {
		t.Errorf("Wait after the last tick and Close: got %v, want no error", err)
	}
	if _, err := n.Send(deadline(t), 0, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Send after Close: got %v, want ErrClosed", err)
	}

	// The same process continues from its last state.
	more := newWorld(4, 150)
	o.Until, o.New = 150, more.machine
	n = join(t, o)
	wait(t, n)
	closeAll(t, n)
	more.check(t, 2, nil)
}

func TestOrphanedCheckpoints(t *testing.T) {
	t.Parallel()
	w := newWorld(2, 60)
	w.slow.Store(int64(10 * time.Millisecond))
	n := join(t, w.options(t, ""))
	ctx := deadline(t)
	for _, name := range []string{"0-5", "1-0"} { // the checkpoints of an earlier run
		if err := n.storage.PutCheckpoint(ctx, 1, name, []byte(name), nil).Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, n)
	for r := range 2 {
		if names, err := n.storage.Checkpoints(ctx, r); !slices.Equal(names, []string{"1-60"}) || err != nil {
			t.Errorf("region %d has the checkpoints %v, %v, want only the newest one", r, names, err)
		}
	}
	closeAll(t, n)
	w.check(t, 2, nil)
}

func TestThreeNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(6, 400)
	w.slow.Store(int64(30 * time.Millisecond))
	o := w.options(t, "")
	o.Listen = "127.0.0.1:0"
	a := join(t, o)
	until(t, "the first node has all regions", func() bool { return slices.Equal(loads(a), []int{6}) })
	b := join(t, w.options(t, a.URL()))
	last := w.options(t, a.URL())
	c := join(t, last)
	fair := func(nodes ...*Node) func() bool {
		return func() bool {
			l := loads(nodes...)
			return slices.Max(l)-slices.Min(l) < 2 && sum(l) == 6
		}
	}
	until(t, "three nodes share the regions", fair(a, b, c))

	dead := slices.DeleteFunc(a.Regions(), func(s Status) bool { return s.Process != c.Process() })
	if err := c.kill(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	until(t, "two nodes share all regions", fair(a, b))
	until(t, "the regions of the third node run", func() bool {
		now := a.Regions()
		for _, s := range dead {
			if now[s.Region].Tick <= s.Tick {
				return false
			}
		}
		return true
	})
	t.Logf("the regions of a dead node ran again, and their statuses said so, after %v", time.Since(began))
	for _, s := range dead {
		if now := a.Regions()[s.Region]; now.Failovers < 1 {
			t.Errorf("a region of a dead node is %+v, want a failover", now)
		}
	}

	again := join(t, last)
	if again.Process() != c.Process() {
		t.Errorf("the process in the same folder is %s, want %s", again.Process(), c.Process())
	}
	until(t, "the restarted node has its share of the regions", fair(a, b, again))

	moves := 0
	for _, s := range a.Regions() {
		moves += s.Moves
	}
	had := loads(a, b)[1]
	closeAll(t, b)
	if had == 0 {
		t.Error("the node that left had no region")
	}
	until(t, "the others have the regions of the node that left", fair(a, again))
	for _, s := range a.Regions() {
		moves -= s.Moves
	}
	if -moves < had {
		t.Errorf("a node with %d regions left, and only %d regions have moved", had, -moves)
	}
	if tick := least(a); tick >= w.until {
		t.Fatal("the world ended before all nodes had joined and left")
	}
	w.slow.Store(0)
	wait(t, a, again)
	closeAll(t, again, a)
	w.check(t, 2, nil)
}

func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}

func TestDrain(t *testing.T) {
	t.Parallel()
	w := newWorld(3, 300)
	w.slow.Store(int64(20 * time.Millisecond))
	o := w.options(t, "")
	o.Listen = "127.0.0.1:0"
	a := join(t, o)
	until(t, "the node has all regions", func() bool { return loads(a)[0] == 3 })
	if err := a.Drain(deadline(t)); err == nil || !strings.Contains(err.Error(), "no other process") {
		t.Errorf("the only node drains: got %v, want an error about other processes", err)
	}
	b := join(t, w.options(t, a.URL()))
	until(t, "both nodes have regions", func() bool { return slices.Min(loads(a, b)) > 0 })
	if err := a.Drain(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if l := loads(a, b); !slices.Equal(l, []int{0, 3}) {
		t.Errorf("after Drain the nodes have %d regions, want 0 and 3", l)
	}
	w.slow.Store(0)
	wait(t, a, b)
	if l := loads(b, a); !slices.Equal(l, []int{3, 0}) {
		t.Errorf("in the end the nodes have %d regions, want 3 and 0", l)
	}
	closeAll(t, b, a)
	w.check(t, 2, nil)
}

func TestServerGoesAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := storage.ServerOptions{Dir: dir, Host: "127.0.0.1", Port: -1, SyncInterval: time.Minute}
	server, err := storage.StartServer(at)
	if err != nil {
		t.Fatal(err)
	}
	url := server.URL()
	if _, err := fmt.Sscanf(url, "nats://127.0.0.1:%d", &at.Port); err != nil {
		t.Fatal(err)
	}
	w := newWorld(4, 300)
	w.slow.Store(int64(10 * time.Millisecond))
	a, b := join(t, w.options(t, url)), join(t, w.options(t, url))
	until(t, "both nodes run regions", func() bool { return slices.Min(loads(a, b)) > 0 && least(a) > 5 })
	var before []string
	for _, s := range a.Regions() {
		before = append(before, s.Process)
	}
	server.Close()
	until(t, "both nodes wait", func() bool {
		return strings.Contains(a.Regions()[0].Waiting, "waiting for the server") &&
			strings.Contains(b.Regions()[0].Waiting, "waiting for the server")
	})
	sent := make(chan error)
	go func() {
		_, err := a.Send(deadline(t), 1, []byte("meanwhile"))
		sent <- err
	}()
	time.Sleep(2 * 500 * time.Millisecond) // longer than the lease
	if server, err = storage.StartServer(at); err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := <-sent; err != nil {
		t.Error(err)
	}
	w.slow.Store(0)
	wait(t, a, b)
	for r, s := range a.Regions() {
		if s.Failovers != 0 {
			t.Errorf("region %d went from %s to %s in a failover, although only the server was away", r,
				before[r], s.Process)
		}
	}
	closeAll(t, a, b)
	w.check(t, 2, map[int][][]byte{1: {[]byte("meanwhile")}})
}

// TestServerLosesItsEnd: a server loses its newest acknowledged messages and keys, as in a power failure.
func TestServerLosesItsEnd(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	at := storage.ServerOptions{Dir: t.TempDir(), Host: "127.0.0.1", Port: -1, SyncInterval: time.Minute}
	server, err := storage.StartServer(at)
	if err != nil {
		t.Fatal(err)
	}
	url := server.URL()
	if _, err := fmt.Sscanf(url, "nats://127.0.0.1:%d", &at.Port); err != nil {
		t.Fatal(err)
	}
	// restart restarts the server in the folder at.Dir. If dir is another folder, restart first copies at.Dir
	// to dir.
	restart := func(dir string) {
		server.Close()
		if at.Dir != dir {
			if err := os.CopyFS(dir, os.DirFS(at.Dir)); err != nil {
				t.Fatal(err)
			}
		}
		if server, err = storage.StartServer(at); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(3, 300)
	w.slow.Store(int64(10 * time.Millisecond))
	o := w.options(t, url)
	o.Every = 1000 // without checkpoints, the journals keep all messages
	a := join(t, o)
	o.Dir = w.options(t, url).Dir
	b := join(t, o)
	until(t, "both nodes run regions", func() bool { return slices.Min(loads(a, b)) > 0 && least(a) > 5 })
	before := filepath.Join(t.TempDir(), "before")
	restart(before)
	tick := least(a)
	until(t, "the regions run again", func() bool { return least(a) > tick+30 })
	at.Dir = before
	restart(before)
	defer func() { server.Close() }()
	w.slow.Store(0)
	wait(t, a, b)
	closeAll(t, a, b)
	w.check(t, 2, nil)
}

// TestServerLosesAnEnd: a server loses the newest messages of region 0, which has run its last tick. Region 1
// still needs these messages. The owner of region 0 keeps running, or starts again.
func TestServerLosesAnEnd(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprint("restarts ", restarts), func(t *testing.T) {
			t.Parallel()
			testLostEnd(t, restarts)
		})
	}
}

func testLostEnd(t *testing.T, restarts bool) {
	at := storage.ServerOptions{Dir: t.TempDir(), Host: "127.0.0.1", Port: -1, SyncInterval: time.Minute}
	server, err := storage.StartServer(at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { server.Close() }()
	url := server.URL()
	if _, err := fmt.Sscanf(url, "nats://127.0.0.1:%d", &at.Port); err != nil {
		t.Fatal(err)
	}
	start := func() {
		if server, err = storage.StartServer(at); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(2, 300)
	w.slow.Store(int64(10 * time.Millisecond))
	w.gate = make(chan struct{})
	o := w.options(t, url)
	o.Every = 1000 // without checkpoints, the journals keep all messages
	first := o
	a := join(t, first)
	o.Dir = w.options(t, url).Dir
	b := join(t, o)
	until(t, "both nodes run regions", func() bool { return slices.Min(loads(a, b)) > 0 && least(a) > 5 })
	if a.view.owner(1).value.Process == a.Process() { // swap: b must own region 1, which ends last
		first, a, b = o, b, a
	}
	outbox := filepath.Join(at.Dir, "jetstream", "$G", "streams", "VAST_test_out_0")
	before := filepath.Join(t.TempDir(), "before")
	server.Close()
	if err := os.CopyFS(before, os.DirFS(outbox)); err != nil {
		t.Fatal(err)
	}
	start()
	until(t, "a region has run its last tick", func() bool { return a.view.done(0) })
	if restarts {
		if err := a.kill(); err != nil {
			t.Fatal(err)
		}
	}
	server.Close()
	if err := errors.Join(os.RemoveAll(outbox), os.CopyFS(outbox, os.DirFS(before))); err != nil {
		t.Fatal(err)
	}
	start()
	for range 2 { // after the second answer, the client has no cached messages from before the restart
		if _, err := b.storage.Outbox(0).Last(deadline(t)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if restarts {
		a = join(t, first)
	}
	close(w.gate)
	wait(t, a, b)
	closeAll(t, a, b)
	w.check(t, 2, nil)
}

func TestServerIsFull(t *testing.T) {
	t.Parallel()
	w := newWorld(2, 200)
	w.slow.Store(int64(10 * time.Millisecond))
	o := w.options(t, "")
	o.Listen = "127.0.0.1:0"
	n := join(t, o)
	nc, err := nats.Connect(n.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	limit := func(bytes int64) {
		for r := range w.regions {
			h, err := js.Stream(deadline(t), fmt.Sprint("VAST_test_out_", r))
			if err == nil {
				c := h.CachedInfo().Config
				c.MaxBytes, c.Discard = bytes, jetstream.DiscardNew
				_, err = js.UpdateStream(deadline(t), c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	until(t, "the regions run", func() bool { return least(n) > 5 })
	limit(1)
	waits := func() bool {
		return !slices.ContainsFunc(n.Regions(), func(s Status) bool {
			return !strings.Contains(s.Waiting, "appending to the stream VAST_test_out_")
		})
	}
	until(t, "the regions say what they wait for", waits)
	tick := n.regions[0].tick.Load() // the status may have an older tick
	for range 30 {                   // the server answers other calls during this time
		time.Sleep(10 * time.Millisecond)
		if !waits() {
			t.Fatal("the statuses no longer say what the regions wait for")
		}
	}
	if now := n.regions[0].tick.Load(); now > tick+o.Lookahead {
		t.Errorf("the region ran from tick %d to tick %d while its messages had no room", tick, now)
	}
	limit(-1)
	until(t, "the regions no longer wait", func() bool { return n.Regions()[0].Waiting == "" })
	w.slow.Store(0)
	wait(t, n)
	closeAll(t, n)
	w.check(t, 2, nil)
}

func TestSend(t *testing.T) {
	t.Parallel()
	w := newWorld(3, 200)
	w.slow.Store(int64(5 * time.Millisecond))
	o := w.options(t, "")
	o.Listen = "127.0.0.1:0"
	a := join(t, o)
	b := join(t, w.options(t, a.URL()))
	ctx := deadline(t)
	if _, err := a.Send(ctx, 3, nil); err == nil {
		t.Error("an input was sent to a region that does not exist")
	}
	if _, err := a.Send(ctx, 0, make([]byte, 9<<20)); err == nil {
		t.Error("an input of 9 MiB was sent")
	}
	want := make(map[int][][]byte)
	for i := range 60 {
		r, input := i%3, fmt.Appendf(nil, "input %d", i)
		number, err := []*Node{a, b}[i%2].Send(ctx, r, input)
		want[r] = append(want[r], input)
		if err != nil || number != uint64(len(want[r])) {
			t.Fatalf("input %d of region %d has the number %d, %v", len(want[r]), r, number, err)
		}
	}
	if tick := least(a); tick > 150 {
		t.Fatalf("the world was at tick %d before all inputs were sent", tick)
	}
	w.slow.Store(0)
	wait(t, a, b)
	closeAll(t, b, a)
	w.check(t, 2, want)
}

func TestDifferentConstants(t *testing.T) {
	w := newWorld(2, 10)
	o := w.options(t, "")
	o.Listen = "127.0.0.1:0"
	a := join(t, o)
	for _, c := range []struct {
		change func(*Options)
		want   []string
	}{
		{func(o *Options) { o.Regions = 7 }, []string{"Regions differs", "has 2", "has 7", "Options.Reg"}},
		{func(o *Options) { o.Lookahead = 5 }, []string{"Lookahead differs", "has 2", "has 5"}},
		{func(o *Options) { o.Schema = "islands" }, []string{"Schema differs", `"islanders"`, `"islands"`}},
		{func(o *Options) { o.Build = "other" }, []string{"Build differs", `"other"`, "Options.Upgrade"}},
		{func(o *Options) { o.Regions, o.Schema = 1, "" }, []string{"Regions differs", "Schema differs"}},
	} {
		o := w.options(t, a.URL())
		c.change(&o)
		_, err := Join(deadline(t), o)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		lock, err := disk.LockFolder(o.Dir) // the node that has not joined does not hold the lock
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	}
	wait(t, a)
}

// TestNothingRunsAfterClose does not run in parallel with other tests, because it checks all goroutines of
// the program.
func TestNothingRunsAfterClose(t *testing.T) {
	w := newWorld(2, 0)
	o := w.options(t, "")
	o.Listen = "127.0.0.1:0"
	a := join(t, o)
	b := join(t, w.options(t, a.URL()))
	until(t, "both nodes run regions", func() bool { return slices.Min(loads(a, b)) > 0 && least(a) > 50 })
	if err := b.kill(); err != nil {
		t.Error(err)
	}
	closeAll(t, a)
	var running string
	defer func() {
		if t.Failed() {
			t.Log(running)
		}
	}()
	stacks := make([]byte, 1<<20)
	until(t, "all goroutines have ended", func() bool {
		for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			running = stack
			for _, code := range []string{"cluster.(*Node)", "cluster/internal/", "nats-io/"} {
				if strings.Contains(stack, code) {
					return false
				}
			}
		}
		return true
	})
}

func TestFolderInUse(t *testing.T) {
	w := newWorld(1, 1)
	o := w.options(t, "")
	join(t, o)
	var locked *disk.LockedError
	if _, err := Join(deadline(t), o); !errors.As(err, &locked) {
		t.Errorf("got %v, want a *disk.LockedError", err)
	}
}

func TestCopiedFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(2, 0)
	o := w.options(t, "")
	o.Listen = "127.0.0.1:0"
	a := join(t, o)
	first, second := w.options(t, a.URL()), w.options(t, a.URL())
	b := join(t, first)
	if err := os.Mkdir(second.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	copied := []byte(b.Process() + "\n")
	if err := os.WriteFile(filepath.Join(second.Dir, identityName), copied, 0o666); err != nil {
		t.Fatal(err)
	}
	c := join(t, second)
	ended := make(chan error, 2)
	for _, n := range []*Node{b, c} {
		go func() { ended <- n.Wait(context.Background()) }()
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "a copy of the folder") {
		t.Errorf("Wait returned %v, want an error about a copy of the folder", err)
	}
}

func TestDamagedFolderAndOptions(t *testing.T) {
	w := newWorld(1, 1)
	two := []string{"a:1", "b:1"}
	peers := func(route string, peers ...string) func(*Options) {
		return func(o *Options) { o.Listen, o.Route, o.Peers = "127.0.0.1:0", route, peers }
	}
	for want, change := range map[string]func(*Options){
		"Dir is empty":          func(o *Options) { o.Dir = "" },
		"New is nil":            func(o *Options) { o.New = nil },
		"Regions is 0":          func(o *Options) { o.Regions = 0 },
		"Lease is 1ms":          func(o *Options) { o.Lease = time.Millisecond },
		"Hz is -1":              func(o *Options) { o.Hz = -1 },
		"URL and Options":       func(o *Options) { o.URL, o.Listen = "nats://127.0.0.1", "127.0.0.1:0" },
		"Peers are set":         func(o *Options) { o.URL, o.Peers = "nats://127.0.0.1", two },
		"Peers is set":          func(o *Options) { o.Route, o.Peers = "a:1", two },
		"Route is set":          func(o *Options) { o.Route = "a:1" },
		"Route or":              func(o *Options) { o.Listen, o.Peers = "127.0.0.1:0", two },
		"has one address":       peers("a:1", "a:1"),
		`Peers has "b", want`:   peers("a:1", "a:1", "b"),
		`Peers has "b:0", want`: peers("a:1", "a:1", "b:0"),
		`Peers has "a:1" twice`: peers("a:1", "a:1", "a:1"),
		`Route is "a:x", want`:  peers("a:x", "a:1", "b:1"),
		"Replicas is 3": func(o *Options) {
			peers("a:1", "a:1", "b:1")(o)
			o.Replicas = 3
		},
		"Listen is": func(o *Options) { o.Listen = "127.0.0.1" },
		"name":      func(o *Options) { o.Name = "a b" },
		"is damaged": func(o *Options) {
			err := errors.Join(os.MkdirAll(o.Dir, 0o777),
				os.WriteFile(filepath.Join(o.Dir, identityName), []byte("0123"), 0o666))
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		o := w.options(t, "")
		change(&o)
		if _, err := Join(deadline(t), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestBrokenMachine(t *testing.T) {
	t.Parallel()
	w, broken := newWorld(2, 100), newWorld(2, 100)
	broken.broken.Store(true)
	o := broken.options(t, "")
	o.Listen = "127.0.0.1:0"
	a := join(t, o)
	until(t, "the status says why", func() bool {
		return strings.Contains(a.Regions()[0].Waiting, "the machine of region 0 is broken")
	})
	b := join(t, w.options(t, a.URL()))
	wait(t, b)
	closeAll(t, b)
	w.check(t, 2, nil)
}

func TestDamagedKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(2, 200)
	w.slow.Store(int64(5 * time.Millisecond))
	o := w.options(t, "")
	damaged := []string{"owner.1", "status.0", "process." + strings.Repeat("0", 16), "owner.77"}
	var mu sync.Mutex
	reports := make(map[string]bool)
	o.Report = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		for _, key := range damaged {
			if strings.Contains(err.Error(), "the key "+key+" ") {
				reports[key] = true
			}
		}
	}
	n := join(t, o)
	until(t, "the regions run", func() bool { return least(n) > 5 })
	for _, key := range damaged {
		for {
			ctx := deadline(t)
			_, revision, err := n.storage.Get(ctx, key)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := n.storage.Set(ctx, key, []byte(`{"session":`), revision); err == nil {
				break
			}
		}
	}
	until(t, "all damage is reported", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(reports) == len(damaged)
	})
	w.slow.Store(0)
	wait(t, n)
	closeAll(t, n)
	w.check(t, 2, nil)
}
