package vast

import "testing"

//go:noinline
func toggleEach(d Disabled, es []Entity) {
	for _, e := range es {
		d.Disable(e)
	}
	for _, e := range es {
		d.Enable(e)
	}
}

//go:noinline
func toggleSlots(d Disabled, q Query) {
	for s := range q.Slots() {
		d.DisableAt(s)
		d.EnableAt(s)
	}
}

// BenchmarkDisabled measures loops over a million entities in a world without a Disabled, and with one that
// switches off none, half or all of the entities, or the component of every second entity. "toggled" means
// that all entities were disabled and enabled again. The last two benchmarks disable and enable all entities.
func BenchmarkDisabled(b *testing.B) {
	for _, tt := range []struct {
		name  string
		setUp func(w *World, pos Column[position], es []Entity)
	}{
		{"without a Disabled", func(*World, Column[position], []Entity) {}},
		{"none", func(w *World, _ Column[position], _ []Entity) { NewDisabled(w, "off") }},
		{"toggled", func(w *World, _ Column[position], es []Entity) {
			toggleEach(NewDisabled(w, "off"), es)
		}},
		{"every second", func(w *World, _ Column[position], es []Entity) {
			off := NewDisabled(w, "off")
			for i := 0; i < len(es); i += 2 {
				off.Disable(es[i])
			}
		}},
		{"first half", func(w *World, _ Column[position], es []Entity) {
			off := NewDisabled(w, "off")
			for _, e := range es[:len(es)/2] {
				off.Disable(e)
			}
		}},
		{"all by Disable", func(w *World, _ Column[position], es []Entity) {
			off := NewDisabled(w, "off")
			for _, e := range es {
				off.Disable(e)
			}
		}},
		{"all by AddAll", func(w *World, _ Column[position], _ []Entity) {
			NewDisabled(w, "off").AddAll(w.Query())
		}},
		{"component of every second", func(w *World, pos Column[position], es []Entity) {
			mute := NewDisabled(w, "mute", pos)
			for i := 0; i < len(es); i += 2 {
				mute.Disable(es[i])
			}
		}},
	} {
		w, _, es, pos, vel := benchmarkWorld(b, benchmarkEntities)
		tt.setUp(w, pos, es)
		q := w.Query(pos, vel)
		for name, f := range map[string]func(){
			"Runs":  func() { moveRuns(q, pos, vel) },
			"Slots": func() { moveSlots(q, pos, vel) },
			"Count": func() { q.Count() },
		} {
			b.Run(name+" "+tt.name, func(b *testing.B) {
				for b.Loop() {
					f()
				}
			})
		}
	}
	w, _, es, pos, vel := benchmarkWorld(b, benchmarkEntities)
	off, q := NewDisabled(w, "off"), w.Query(pos, vel)
	for name, f := range map[string]func(){
		"Disable and Enable":     func() { toggleEach(off, es) },
		"DisableAt and EnableAt": func() { toggleSlots(off, q) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkEntities, "ns/entity")
		})
	}
}
