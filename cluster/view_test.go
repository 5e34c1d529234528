package cluster

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/cluster/internal/storage"
)

func at(milliseconds int) time.Time {
	return time.Unix(0, 0).Add(time.Duration(milliseconds) * time.Millisecond)
}

// TestSilence checks when a process without heartbeats counts as dead. All times are in milliseconds.
func TestSilence(t *testing.T) {
	v := newView("me", &Options{Regions: 1, Lease: time.Second})
	revision := uint64(0)
	tell := func(key string, value any, now int) {
		t.Helper()
		revision++
		e := storage.Entry{Key: key, Value: encode(value), Revision: revision}
		if err := v.tell(e, at(now)); err != nil {
			t.Fatal(err)
		}
	}
	mine := heartbeat{Session: "1", Lease: 1000}
	expect := func(now int, want ownership) {
		t.Helper()
		if got := v.look("1", at(now)).ownerships[0]; got != want {
			t.Errorf("after %d ms the ownership of the region is %d, want %d", now, got, want)
		}
	}
	beats := func(from, to int) {
		for now := from; now <= to; now += 300 {
			tell("process.me", mine, now)
		}
	}
	tell("process.me", mine, 0)
	tell("process.other", heartbeat{Session: "2", Lease: 1000}, 0)
	tell("owner.0", owner{Process: "other", Session: "2"}, 0)
	v.complete(at(0))
	beats(300, 900)
	expect(1000, owned)
	expect(1001, orphaned)
	tell("process.other", heartbeat{Session: "2", Lease: 1000}, 1100)
	expect(1100, owned)

	// The heartbeats of this process are late, too, so late heartbeats of the other process prove nothing.
	tell("process.me", mine, 2500)
	expect(2500, owned)
	beats(2800, 3400)
	expect(3500, owned)
	expect(3501, orphaned)

	// Heartbeats of this process no longer arrive, so missing heartbeats of the other process prove nothing.
	tell("process.other", heartbeat{Session: "2", Lease: 1000}, 3600)
	expect(9000, owned)
	expect(20000, owned)

	// A new watch delivers all keys again, with lower revisions.
	v.begin()
	revision = 0
	tell("owner.0", owner{Process: "other", Session: "2"}, 20000)
	tell("process.other", heartbeat{Session: "2", Lease: 3000}, 20000)
	v.complete(at(20000))
	beats(20000, 23300)
	expect(23000, owned) // the lease of the other process counts
	expect(23001, orphaned)

	// A new session does not own what an earlier session owned.
	tell("process.other", heartbeat{Session: "3", Lease: 3000}, 23100)
	expect(23100, orphaned)
	tell("owner.0", owner{Process: "other", Session: "3"}, 23100)
	expect(23100, owned)

	// A process that has left owns nothing. An owner without a session has given the region up.
	tell("process.other", heartbeat{Session: "3", Lease: 3000, Left: true}, 23200)
	expect(23200, orphaned)
	tell("owner.0", owner{Process: "other"}, 23300)
	expect(23300, released)

	// This process owns what its own session owns, however late its heartbeats are.
	tell("owner.0", owner{Process: "me", Session: "1"}, 23300)
	expect(99999, owned)
	tell("owner.0", owner{Process: "me", Session: "0"}, 23300)
	expect(23300, orphaned)

	// A region is finished when it has run the last tick, v.until.
	tell("status.0", status{Tick: 7, Done: true}, 23300)
	expect(23300, orphaned)
	v.until = 7
	if got := v.look("1", at(23300)).ownerships[0]; got != finished {
		t.Errorf("the ownership of the region is %d after its last tick, want finished", got)
	}
}

// TestDrainsDuringNewWatch: a drain stays in effect until the new watch has delivered all keys.
func TestDrainsDuringNewWatch(t *testing.T) {
	v, now := newView("me", &Options{Regions: 1, Lease: time.Second}), time.Now()
	tell := func(process string, revision uint64) {
		t.Helper()
		e := storage.Entry{Key: "drain." + process, Value: encode(drained{Drain: true}), Revision: revision}
		if err := v.tell(e, now); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when string, me, other bool) {
		t.Helper()
		if v.drained("me") != me || v.drained("other") != other {
			t.Errorf("%s: drained(me) is %t, want %t; drained(other) is %t, want %t", when, v.drained("me"),
				me, v.drained("other"), other)
		}
	}
	tell("me", 7)
	tell("other", 8)
	v.complete(now)
	v.begin()
	expect("after begin", true, true)
	tell("me", 3)
	v.complete(now)
	expect("after complete without the key of the other process", true, false)
}

// TestDamagedKeysAreIgnored: after a damaged heartbeat, a process keeps its last session. A damaged owner
// becomes a zero value, so that this process can replace the key.
func TestDamagedKeysAreIgnored(t *testing.T) {
	v := newView("me", &Options{Regions: 2, Lease: time.Second})
	for i, c := range []struct {
		key, value string
		bad        bool
	}{
		{"process.other", `{"session":"2"}`, false},
		{"process.other", `{`, true},
		{"owner.1", `{"process":"other","session":"2"}`, false},
		{"owner.1", `[]`, true},
		{"owner.2", `{}`, true},
		{"owner.01", `{}`, true},
		{"owner.-1", `{}`, true},
		{"owner", `{}`, true},
		{"status.1", ``, true},
	} {
		e := storage.Entry{Key: c.key, Value: []byte(c.value), Revision: uint64(i + 1)}
		if err := v.tell(e, at(0)); (err != nil) != c.bad {
			t.Errorf("the key %s with the value %s gives the error %v, want an error: %v", c.key, c.value,
				err, c.bad)
		}
	}
	if m := v.member("other"); m.value.Session != "2" || m.revision != 2 {
		t.Errorf("the process is %+v, want session 2 and revision 2", m)
	}
	if o := v.owner(1); o.value.Session != "" || o.revision != 4 {
		t.Errorf("the owner is %+v, want no session and revision 4", o)
	}
}

// TestPace: ticks are due at equal distances, and a late region catches up on at most a second of its delay.
func TestPace(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel() // so that p.wait does not sleep
	p, others := pace{period: 100 * time.Millisecond}, newPulse(2, 3)
	var delays []time.Duration
	due := func() {
		before := p.next
		if p.wait(ended, 7, others) == nil {
			t.Error("p.wait did not return the error of the context")
		}
		delays = append(delays, p.next.Sub(before))
	}
	due()
	due()
	due()
	if !slices.Equal(delays[1:], []time.Duration{p.period, p.period}) {
		t.Errorf("the distances between ticks are %v, want %v", delays[1:], p.period)
	}
	p.next = time.Now().Add(-time.Hour)
	due()
	if late := time.Since(p.next); late < maxDebt-p.period || late > maxDebt+time.Minute/2 {
		t.Errorf("a region that is an hour late catches up on %v, want about %v", late, maxDebt)
	}
}

// TestUnpaced: the first ticks do not wait, and the clock begins after them, however long they took.
func TestUnpaced(t *testing.T) {
	p, others := pace{period: time.Hour, unpaced: 3}, newPulse(2, 3)
	for tick := range uint64(3) {
		p.next = time.Now().Add(-time.Minute) // as if this tick had been due a minute ago
		if err := p.wait(t.Context(), tick+1, others); err != nil {
			t.Fatal(err)
		}
		if late := time.Since(p.wanted); late > time.Minute/2 {
			t.Errorf("tick %d was due %v ago, want now", tick+1, late)
		}
	}
	if wait := time.Until(p.next); wait < p.period-time.Minute {
		t.Errorf("the first paced tick is due in %v, want about %v", wait, p.period)
	}
}

// TestPulse: a tick is due when another region has run it. A message that claims too high a tick does not
// count.
func TestPulse(t *testing.T) {
	p, others := pace{period: time.Hour}, newPulse(2, 3)
	if err := p.wait(t.Context(), 7, others); err != nil { // the first tick does not wait
		t.Fatal(err)
	}
	others.ran(0, 7)
	others.ran(1, 12)
	if reached, _ := others.reached(8); reached {
		t.Error("tick 8 is due because a region claims tick 12, which is beyond the lookahead")
	}
	go others.ran(0, 8)
	if err := p.wait(t.Context(), 8, others); err != nil {
		t.Fatal(err)
	}
	if due := time.Since(p.due); due > time.Minute || p.next.Sub(p.due) < p.period-time.Minute {
		t.Errorf("tick 8 was due %v ago, want now; tick 9 is due %v after it, want %v", due,
			p.next.Sub(p.due), p.period)
	}
	for _, m := range []string{"", "VOUT", "no message of an outbox at all, and long enough for a header: " +
		strings.Repeat("x", 100)} {
		others.told(0, []byte(m))
	}
	if reached, _ := others.reached(8); !reached {
		t.Error("damaged messages have changed the ticks")
	}
}
