package store_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

type cargo struct{ Kind, Amount, Price uint32 }

type harbour struct {
	w     *vast.World
	ships *vast.Archetype
	crew  vast.Relation
	mass  vast.Column[momentum]
	owned vast.Column[burden]
}

func newHarbour() *harbour {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 20})
	n := &harbour{w: w, mass: vast.NewColumn[momentum](w), owned: vast.NewColumn[burden](w)}
	n.ships = w.Archetype(n.mass, vast.NewColumn[charge](w), vast.NewColumn[kind](w),
		vast.NewColumn[cargo](w), n.owned)
	n.crew = vast.NewRelation(w, "crew", vast.RelationOptions{OnDelete: vast.Cascade})
	vast.NewTag(w, "docked")
	return n
}

// fill makes ships of ten parts each. If scattered is true, other entities lie between the parts.
func (n *harbour) fill(parts int, scattered bool) (roots []vast.Entity) {
	var all []vast.Entity
	n.ships.NewN(parts, func(run vast.Run) {
		for i, e := range run.All() {
			all = append(all, e)
			n.mass.Slice(run)[i].X = float64(i)
		}
	})
	if scattered { // keeps every ninth of the new entities as a part
		for i := range 9 * parts {
			e := n.ships.New()
			if i%9 == 0 {
				all[i/9] = e
			}
		}
	}
	for i, e := range all {
		root := all[i/10*10]
		n.owned.Get(e).Of = root
		if e == root {
			roots = append(roots, e)
		} else {
			n.crew.Set(e, root)
		}
	}
	return roots
}

// BenchmarkParcel compares parcels with JSON documents. Each entity has five components, one of them with a
// reference. Nine of ten entities have a link.
func BenchmarkParcel(b *testing.B) {
	const n = 10_000
	perEntity := func(b *testing.B, size int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entity")
		b.ReportMetric(float64(size)/n, "bytes/entity")
	}
	for _, scattered := range []bool{false, true} {
		from, to := newHarbour(), newHarbour()
		roots := from.fill(n, scattered)
		p, q := packer(b, from.w, store.Options{}), packer(b, to.w, store.Options{})
		parcel := pack(b, p, roots...)
		b.Run(fmt.Sprint("pack/scattered=", scattered), func(b *testing.B) {
			var buffer []byte
			for b.Loop() {
				var err error
				if buffer, err = p.Pack(buffer[:0], roots); err != nil {
					b.Fatal(err)
				}
			}
			perEntity(b, len(buffer))
		})
		b.Run(fmt.Sprint("unpack/scattered=", scattered), func(b *testing.B) {
			for b.Loop() {
				unpack(b, q, parcel)
				b.StopTimer()
				to.w.DeleteAll(to.w.Query())
				b.StartTimer()
			}
			perEntity(b, len(parcel))
		})
		var document bytes.Buffer
		all := from.w.Query(from.mass)
		if scattered {
			all = from.w.Query().Among(append(roots, sources(from.crew, roots)...))
		}
		b.Run(fmt.Sprint("write JSON/scattered=", scattered), func(b *testing.B) {
			for b.Loop() {
				document.Reset()
				if err := store.WriteJSONOf(all, &document, store.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			perEntity(b, document.Len())
		})
		b.Run(fmt.Sprint("read JSON/scattered=", scattered), func(b *testing.B) {
			for b.Loop() {
				src := bytes.NewReader(document.Bytes())
				if _, err := store.ReadJSON(to.w, src, store.Options{}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				to.w.DeleteAll(to.w.Query())
				b.StartTimer()
			}
			perEntity(b, document.Len())
		})
		from.w.Close()
		to.w.Close()
	}
}

func sources(r vast.Relation, targets []vast.Entity) (all []vast.Entity) {
	for _, target := range targets {
		for source := range r.Sources(target) {
			all = append(all, source)
		}
	}
	return all
}
