package vast

import (
	"math/rand/v2"
	"testing"
)

//go:noinline
func recordAdds(c *Commands, vel Column[velocity], es []Entity) {
	for i, e := range es {
		vel.AddLater(c, e, velocity{X: float64(i)})
	}
}

//go:noinline
func recordTags(c *Commands, tag Tag, es []Entity) {
	for _, e := range es {
		tag.AddLater(c, e)
	}
}

//go:noinline
func recordNews(c *Commands, a *Archetype, n int) {
	for range n {
		c.New(a)
	}
}

//go:noinline
func recordBirths(c *Commands, a *Archetype, pos Column[position], vel Column[velocity], n int) {
	for i := range n {
		e := c.New(a)
		pos.SetLater(c, e, position{X: float64(i)})
		vel.SetLater(c, e, velocity{X: 1})
	}
}

//go:noinline
func recordDeletes(c *Commands, es []Entity) {
	for _, e := range es {
		c.Delete(e)
	}
}

func apply(b *testing.B, w *World, c *Commands, want int) {
	if done, err := w.Apply(c); done.Done != want || err != nil {
		b.Fatal(done, err)
	}
}

func BenchmarkCommandsRecord(b *testing.B) {
	w, a, es, _, vel := benchmarkWorld(b, benchmarkEntities)
	tag := NewTag(w, "tag")
	c := NewCommands(w, CommandsOptions{})
	for name, f := range map[string]func(){
		"add":    func() { recordAdds(c, vel, es) },
		"tag":    func() { recordTags(c, tag, es) },
		"new":    func() { recordNews(c, a, len(es)) },
		"delete": func() { recordDeletes(c, es) },
		"at": func() {
			for i, e := range es {
				c.At(i / 64)
				c.Delete(e)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
				c.discard()
			}
			perEntity(b)
		})
	}
}

func (c *Commands) discard() {
	c.pieces = c.pieces[:0]
	c.applied, c.room, c.since = true, c.used, c.used
}

func BenchmarkCommandsAdd(b *testing.B) {
	w := NewWorld(Options{})
	b.Cleanup(func() { w.Close() })
	pos, vel := NewColumn[position](w), NewColumn[velocity](w)
	w.Archetype(pos).NewN(benchmarkEntities, nil)
	q, added := w.Query(pos), w.Query(vel)
	ordered := entitiesOf(q)
	shuffled := append([]Entity(nil), ordered...)
	rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	c := NewCommands(w, CommandsOptions{})
	var slice []Entity
	for _, order := range []struct {
		name string
		es   []Entity
	}{{"in order", ordered}, {"at random", shuffled}} {
		es := order.es
		b.Run(order.name+"/direct", func(b *testing.B) {
			for b.Loop() {
				for i, e := range es {
					vel.Add(e, velocity{X: float64(i)})
				}
				b.StopTimer()
				vel.RemoveAll(added)
				b.StartTimer()
			}
			perEntity(b)
		})
		b.Run(order.name+"/slice", func(b *testing.B) {
			for b.Loop() {
				slice = append(slice[:0], es...)
				for i, e := range slice {
					vel.Add(e, velocity{X: float64(i)})
				}
				b.StopTimer()
				vel.RemoveAll(added)
				b.StartTimer()
			}
			perEntity(b)
		})
		b.Run(order.name+"/commands", func(b *testing.B) {
			for b.Loop() {
				recordAdds(c, vel, es)
				apply(b, w, c, len(es))
				b.StopTimer()
				vel.RemoveAll(added)
				b.StartTimer()
			}
			perEntity(b)
		})
	}
}

func BenchmarkCommandsNew(b *testing.B) {
	w, a, _, pos, vel := benchmarkWorld(b, 0)
	all := w.Query()
	c := NewCommands(w, CommandsOptions{})
	es := make([]Entity, benchmarkEntities)
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
				b.StopTimer()
				w.DeleteAll(all)
				b.StartTimer()
			}
			perEntity(b)
		})
	}
	run("bare/direct", func() { newInto(a, es) })
	run("bare/commands", func() { recordNews(c, a, benchmarkEntities); apply(b, w, c, benchmarkEntities) })
	run("two values/direct", func() {
		for i := range benchmarkEntities {
			e := a.New()
			pos.Set(e, position{X: float64(i)})
			vel.Set(e, velocity{X: 1})
		}
	})
	run("two values/commands", func() {
		recordBirths(c, a, pos, vel, benchmarkEntities)
		apply(b, w, c, 3*benchmarkEntities)
	})
}

func BenchmarkCommandsDelete(b *testing.B) {
	w, a, es, _, _ := benchmarkWorld(b, benchmarkEntities)
	rand.Shuffle(len(es), func(i, j int) { es[i], es[j] = es[j], es[i] })
	c := NewCommands(w, CommandsOptions{})
	slice := make([]Entity, 0, len(es))
	for _, t := range []struct {
		name string
		f    func()
	}{
		{"direct", func() { deleteFrom(w, es) }},
		{"slice", func() {
			slice = append(slice[:0], es...)
			deleteFrom(w, slice)
		}},
		{"commands", func() { recordDeletes(c, es); apply(b, w, c, len(es)) }},
	} {
		b.Run(t.name, func(b *testing.B) {
			for b.Loop() {
				t.f()
				b.StopTimer()
				newInto(a, es)
				b.StartTimer()
			}
			perEntity(b)
		})
	}
}
