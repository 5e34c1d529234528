package linearizability

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/longtest"
)

// object is an entry of a table. Its first word determines the other words, so that a torn copy is detected.
type object struct{ A, B, C, D uint64 }

func objectOf(n uint64) object { return object{n, n * 3, n * 5, n * 7} }

// entryDo is an operation on one entry of a table, and entryGot is its result.
type entryDo struct {
	what  string // load, set, remove, update
	entry int
	value uint64 // value that set stores or update adds
}

type entryGot struct {
	value uint64 // value that load returned
	had   bool   // whether the entry had a value before the operation; false for set
}

// entryModel is the model of a sequential entry. Its state is the value, or 0 if there is no value. Entries
// are independent, so porcupine checks the operations on each entry separately.
var entryModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make(map[int][]porcupine.Operation)
		for _, op := range history {
			e := op.Input.(entryDo).entry
			parts[e] = append(parts[e], op)
		}
		var all [][]porcupine.Operation
		for _, p := range parts {
			all = append(all, p)
		}
		return all
	},
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		value, do, got := state.(uint64), input.(entryDo), output.(entryGot)
		had := value != 0
		switch do.what {
		case "load":
			return got.had == had && got.value == value, value
		case "remove":
			return got.had == had, uint64(0)
		case "update":
			if had {
				value += do.value
			}
			return got.had == had, value
		}
		return true, do.value
	},
}

// entryUser makes the calls of one goroutine.
type entryUser interface {
	do(entryDo) entryGot
}

type tableUser struct {
	r *bulk.SharedReader[object]
	w *bulk.SharedWriter[object]
}

func (u tableUser) do(d entryDo) (got entryGot) {
	switch d.what {
	case "load":
		var v object
		v, got.had = u.r.Load(d.entry)
		if got.had && v != objectOf(v.A) {
			panic("a torn value")
		}
		got.value = v.A
	case "set":
		u.w.Set(d.entry, objectOf(d.value))
	case "remove":
		got.had = u.w.Remove(d.entry)
	case "update":
		got.had = u.w.Update(d.entry, func(o *object) { *o = objectOf(o.A + d.value) })
	}
	return got
}

// history returns the operations of goroutines that use a few entries at the same time.
func history(seed uint64, users []entryUser) []porcupine.Operation {
	const entries, each = 2, 12
	var values atomic.Uint64
	choose := func(random *rand.Rand) any {
		what := [...]string{"load", "load", "set", "remove", "update"}[random.IntN(5)]
		return entryDo{what, random.IntN(entries), values.Add(1)}
	}
	return recordHistory(len(users), each, seed, choose, func(client int, input any) any {
		return users[client].do(input.(entryDo))
	})
}

func newTable(t *testing.T) *bulk.SharedTable[object] {
	table, err := bulk.NewSharedTable[object](bulk.Options{Capacity: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

// TestSharedTableLinearizable: concurrent operations have the results of some sequential order, in which each
// operation happens between its call and its return (checked as in Wing and Gong, 1993, and Lowe, 2017).
func TestSharedTableLinearizable(t *testing.T) {
	rounds := longtest.Pick(100, 500)
	table := newTable(t)
	for seed := range uint64(rounds) {
		var users []entryUser
		for range 4 {
			u := tableUser{table.Reader(), table.Writer()}
			users = append(users, u)
		}
		all := history(seed, users)
		if !porcupine.CheckOperations(entryModel, all) {
			t.Fatalf("the history with seed %d is not linearizable: %+v", seed, all)
		}
		for _, u := range users {
			for entry := range 2 {
				u.do(entryDo{"remove", entry, 0}) // the model begins without values
			}
			u.(tableUser).r.Close()
			u.(tableUser).w.Close()
		}
	}
}

// brokenUser updates in two steps, between which other goroutines can change the entry.
type brokenUser struct {
	tableUser
	between func()
}

func (u brokenUser) do(d entryDo) (got entryGot) {
	if d.what != "update" {
		return u.tableUser.do(d)
	}
	got = u.tableUser.do(entryDo{"load", d.entry, 0})
	u.between()
	if got.had {
		u.tableUser.do(entryDo{"set", d.entry, got.value + d.value})
	}
	return entryGot{had: got.had}
}

func TestLinearizabilityIsChecked(t *testing.T) {
	table := newTable(t)
	for seed := range uint64(200) {
		var users []entryUser
		for range 4 {
			users = append(users, brokenUser{tableUser{table.Reader(), table.Writer()},
				func() { time.Sleep(20 * time.Microsecond) }})
		}
		if !porcupine.CheckOperations(entryModel, history(seed, users)) {
			return
		}
		for entry := range 2 {
			users[0].do(entryDo{"remove", entry, 0})
		}
	}
	t.Error("all histories of a broken table pass")
}
