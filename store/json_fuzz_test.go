package store_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/vastgo/vast/store"
)

// FuzzReadJSON reads any text into a world. After an error, the world is unchanged. Otherwise the world keeps
// its invariants, and the document of WriteJSON does not change in a round trip.
func FuzzReadJSON(f *testing.F) {
	f.Add(`{}`)
	f.Add(`{"entities":[{"name":"a","components":{"position":{"X":1e3},"childOf":{"outside":"Mayor"}}},` +
		`{"id":7,"sources":{"roads":["a"]},"components":{"awake":true,"aimsAt":7,` +
		`"roads":[{"to":"a","value":3}]}}]}`)
	f.Add(`{"resources":{"` + nameOfClock + `":{"Tick":5,"Note":"\u00e9\ud83d\ude00"}},"entities":[{"id":1,` +
		`"components":{"diary":{"Seen":[{"key":1,"value":2},{"key":null,"value":-3}],` +
		`"secret":"AA==","Lines":[""]}}}]}`)
	for seed := range uint64(3) {
		n := makeTown(false)
		n.live(seed, 60)
		var b bytes.Buffer
		if err := store.WriteJSON(n.w, &b, store.Options{}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.String())
		n.w.Close()
	}
	o := store.Options{Resources: []reflect.Type{reflect.TypeFor[clock]()}}
	f.Fuzz(func(t *testing.T, text string) {
		n := newTown(t, len(text)%2 == 0)
		mayor := n.walkers.New()
		if _, err := n.names.Set(mayor, "Mayor"); err != nil {
			t.Fatal(err)
		}
		n.live(1, 40)
		before := n.dump()
		d, err := store.ReadJSON(n.w, strings.NewReader(text), o)
		if err != nil {
			if now := n.dump(); now != before {
				t.Fatalf("%v\nThe world has changed: %s", err, difference(before, now))
			}
			return
		}
		for _, e := range d.Entities {
			if !n.w.Alive(e) {
				t.Fatalf("the new entity %v is not alive", e)
			}
		}
		load(t, newTown(t, true), save(t, n, store.Options{}), store.Options{}) // Load checks all invariants
		first := writeJSON(t, n.w, o)
		again := newTown(t, true)
		readJSON(t, again.w, first, o)
		if second := writeJSON(t, again.w, o); second != first {
			t.Fatal(difference(first, second))
		}
		n.order = append(n.order, d.Entities...)
		n.live(2, 60)
		n.dump()
	})
}
