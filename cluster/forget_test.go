package cluster

import (
	"slices"
	"testing"
	"time"

	"github.com/vastgo/vast/cluster/internal/storage"
)

func TestSilentProcesses(t *testing.T) {
	v := newView("me", &Options{Regions: 1, Lease: time.Second})
	revision := uint64(0)
	tell := func(key string, value any, seen, sent time.Time) {
		t.Helper()
		revision++
		e := storage.Entry{Key: key, Value: encode(value), Revision: revision, Time: sent}
		if err := v.tell(e, seen); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(seconds int, want ...string) {
		t.Helper()
		for now := 1000*seconds - 1500; now <= 1000*seconds; now += 300 {
			tell("process.me", heartbeat{Lease: 1000}, at(now), at(now))
		}
		var keys []string
		for _, e := range v.silent(at(1000*seconds), time.Minute) {
			keys = append(keys, e.Key)
			v.removed(e)
		}
		slices.Sort(keys)
		if !slices.Equal(keys, want) {
			t.Errorf("after %d s the keys %v are removed, want %v", seconds, keys, want)
		}
	}
	early := at(1).Add(-time.Hour) // a process that joins also gets old keys
	tell("process.me", heartbeat{Lease: 1000}, at(1), time.Time{})
	tell("process.dead", heartbeat{Lease: 1000}, at(1), early)
	if keys := v.silent(at(2000), time.Minute); keys != nil {
		t.Errorf("the keys %v are removed before the time of the server is known", keys)
	}
	expect(10, "process.dead")
	if v.processes["dead"] != nil {
		t.Error("the view still has the process whose key was removed")
	}

	tell("process.dead", heartbeat{Lease: 1000}, at(11_900), early)
	expect(12) // the process may live: its heartbeat arrived less than a lease ago
	tell("process.owner", heartbeat{Lease: 1000}, at(10_000), early)
	tell("owner.0", owner{Process: "owner"}, at(10_000), early)
	tell("process.left", heartbeat{Lease: 1000, Left: true}, at(10_000), at(10_000))
	tell("drain.left", drained{true}, at(10_000), at(10_000))
	expect(14, "process.dead")
	expect(70)
	expect(71, "drain.left", "process.left")
	tell("owner.0", owner{Process: "me"}, at(71_000), at(71_000))
	tell("process.other", heartbeat{Lease: 1000}, at(71_000), time.Time{})
	expect(200, "process.owner")

	// The view keeps a key that has changed since the method silent returned the key.
	tell("process.dead", heartbeat{Lease: 1000}, at(200_000), early)
	v.removed(storage.Entry{Key: "process.dead", Revision: revision - 1})
	if v.processes["dead"] == nil {
		t.Error("the view has lost a process that sends heartbeats again")
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	w := newWorld(2, 0)
	w.slow.Store(int64(10 * time.Millisecond))
	o := w.options(t, "")
	o.Listen = "127.0.0.1:0"
	a := join(t, o)
	o = w.options(t, a.URL())
	b := join(t, o)
	until(t, "both nodes have regions", func() bool { return slices.Min(loads(a, b)) > 0 })
	operator, err := Operate(deadline(t), a.URL(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := operator.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := operator.Drain(deadline(t), b.Process()); err != nil {
		t.Fatal(err)
	}
	if err := b.kill(); err != nil {
		t.Fatal(err)
	}
	keys := []string{processKey(b.Process()), drainKey(b.Process())}
	count := func() (n int) {
		for _, key := range keys {
			_, revision, err := a.storage.Get(deadline(t), key)
			if err != nil {
				t.Fatal(err)
			}
			if revision > 0 {
				n++
			}
		}
		return n
	}
	time.Sleep(2 * a.o.Lease)
	if n := count(); n != 2 || a.view.member(b.Process()).revision == 0 {
		t.Fatalf("a process that has just died has %d keys, want 2", n)
	}
	a.silence.Store(int64(2 * time.Second))
	until(t, "the keys are removed", func() bool { return count() == 0 })
	until(t, "the node has forgotten the keys", func() bool {
		return a.view.member(b.Process()).revision == 0 && !a.view.drained(b.Process())
	})
	b = join(t, o)
	until(t, "the process has regions again", func() bool { return slices.Min(loads(a, b)) > 0 })
	if a.view.member(b.Process()).sent.IsZero() {
		t.Error("the view does not have the time of the heartbeat")
	}
}
