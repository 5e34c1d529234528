package observe

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast"
)

//go:noinline
func lookOnce(m *Monitor) { m.Next() }

//go:noinline
func countWords(q vast.Query) (n int) {
	for _, mask := range q.Words() {
		if mask != 0 {
			n++
		}
	}
	return n
}

// BenchmarkMonitor measures Monitor.Next in a world of a million entities, after a share of the query's
// matches has left or entered the query. For comparison, it also measures a loop over the query's words.
func BenchmarkMonitor(b *testing.B) {
	const n = 1 << 20
	for _, matching := range []int{1, 64} {
		w := vast.NewWorld(vast.Options{})
		a := vast.NewColumn[[2]float32](w)
		t := vast.NewTag(w, "t")
		w.Archetype(a).NewN(n, nil)
		var es []vast.Entity
		for e := range w.Query(a).All() {
			if int(e.Slot())%matching == 0 {
				es = append(es, e)
			}
		}
		t.AddAll(w.Query().Among(es))
		rand.Shuffle(len(es), func(i, j int) { es[i], es[j] = es[j], es[i] })
		q := w.Query(a, t)
		m := NewMonitor(q)
		name := fmt.Sprintf("one in %d matches, ", matching)
		b.Run(name+"query by words", func(b *testing.B) {
			for b.Loop() {
				countWords(q)
			}
		})
		b.Run(name+"none changed", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				lookOnce(m)
			}
		})
		for _, share := range []int{1000, 100, 1} {
			some := es[:len(es)/share]
			has := true
			b.Run(fmt.Sprintf("%s1/%d changed", name, share), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					for _, e := range some {
						if has {
							t.Remove(e)
						} else {
							t.Add(e)
						}
					}
					has = !has
					b.StartTimer()
					lookOnce(m)
				}
			})
			if !has {
				t.AddAll(w.Query().Among(some))
			}
		}
		m.Close()
		w.Close()
	}
}
