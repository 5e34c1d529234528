package store_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

// things makes a world with three columns. If full is true, the world has 100,000 entities.
func things(b *testing.B, full bool) *vast.World {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 20})
	m, c, k := vast.NewColumn[momentum](w), vast.NewColumn[charge](w), vast.NewColumn[kind](w)
	if full {
		i := 0.0
		w.Archetype(m, c, k).NewN(100_000, func(r vast.Run) {
			for j := range m.Slice(r) {
				i++
				m.Slice(r)[j], c.Slice(r)[j], k.Slice(r)[j] = momentum{i, 1.5, 2}, charge{i / 3, 3, 4},
					kind{uint32(i), 2}
			}
		})
	}
	return w
}

// thing holds the three components of an entity, for encoding/json.
type thing struct {
	Momentum momentum
	Charge   charge
	Kind     kind
}

// BenchmarkJSON compares WriteJSON and ReadJSON of a world with encoding/json of a slice of structs. World
// and slice hold equal values.
func BenchmarkJSON(b *testing.B) {
	w := things(b, true)
	defer w.Close()
	var document bytes.Buffer
	if err := store.WriteJSON(w, &document, store.Options{}); err != nil {
		b.Fatal(err)
	}
	all := make([]thing, 0, 100_000)
	for i := range 100_000 {
		f := float64(i + 1)
		all = append(all, thing{momentum{f, 1.5, 2}, charge{f / 3, 3, 4}, kind{uint32(f), 2}})
	}
	plain, err := json.Marshal(all)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("write/world", func(b *testing.B) {
		b.SetBytes(int64(document.Len()))
		var to bytes.Buffer
		for b.Loop() {
			to.Reset()
			if err := store.WriteJSON(w, &to, store.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("write/slice", func(b *testing.B) {
		b.SetBytes(int64(len(plain)))
		var to bytes.Buffer
		for b.Loop() {
			to.Reset()
			if err := json.NewEncoder(&to).Encode(all); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read/world", func(b *testing.B) {
		b.SetBytes(int64(document.Len()))
		for b.Loop() {
			b.StopTimer()
			w := things(b, false)
			b.StartTimer()
			if _, err := store.ReadJSON(w, bytes.NewReader(document.Bytes()), store.Options{}); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			w.Close()
			b.StartTimer()
		}
	})
	b.Run("read/slice", func(b *testing.B) {
		b.SetBytes(int64(len(plain)))
		for b.Loop() {
			var read []thing
			if err := json.NewDecoder(bytes.NewReader(plain)).Decode(&read); err != nil {
				b.Fatal(err)
			}
		}
	})
}
