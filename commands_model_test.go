package vast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// The model of Commands decodes a stream of bytes into batches of operations. One world runs the operations
// directly. For another world, several workers record the operations into Commands at the same time. Each
// worker records some batches in random order, each batch at its own position. After Apply the two worlds
// must be equal, slot by slot.

// commandWorld is a world with a column of each storage and a record of the calls of its hooks.
type commandWorld struct {
	*World
	pos        Column[position]
	small      Column[[3]byte]
	big        SparseColumn[[3]uint64]
	name       HeapColumn[string]
	tag        Tag
	archetypes []*Archetype
	known      []Entity // all entities that were made, in order
	told       []string
}

func newCommandWorld(pages vm.Pages, hooks bool) *commandWorld {
	w := &commandWorld{World: NewWorld(Options{MaxEntities: 1 << 16, Pages: pages})}
	w.pos, w.small, w.big = NewColumn[position](w.World), NewColumn[[3]byte](w.World),
		NewSparseColumn[[3]uint64](w.World)
	w.name, w.tag = NewHeapColumn[string](w.World), NewTag(w.World, "tag")
	w.archetypes = []*Archetype{w.Archetype(), w.Archetype(w.pos), w.Archetype(w.pos, w.small, w.tag),
		w.Archetype(w.small, w.big, w.name)}
	if hooks {
		note := func(format string, a ...any) { w.told = append(w.told, fmt.Sprintf(format, a...)) }
		w.pos.OnAdd(func(e Entity, v *position) { note("%v has %v", e, *v) })
		w.pos.OnRemove(func(e Entity, v *position) { note("%v had %v", e, *v) })
		w.name.OnRemove(func(e Entity, v *string) { note("%v was %s", e, *v) })
		w.tag.OnAdd(func(e Entity) { note("%v is tagged", e) })
	}
	return w
}

// commandStep is one operation. The verbs 0 and 1 make an entity, and 2 deletes an entity. The verbs 3 and
// 4 add a component, 5 sets a component or removes a tag, and 6 and 7 remove a component.
type commandStep struct {
	verb, column, archetype int
	entity                  int // index in known; or -1-i for entity i of the entities that the batch made
	v                       uint64
}

func (b *byteStream) commandSteps(known int) (steps []commandStep) {
	made := 0
	for range b.next() % 40 {
		s := commandStep{verb: b.next() % 8, column: b.next() % 5, archetype: b.next() % 4,
			v: uint64(b.next())}
		if choice := b.next(); made > 0 && choice%3 == 0 {
			s.entity = -1 - choice%made
		} else if known > 0 {
			s.entity = (choice<<8 | b.next()) % known
		} else {
			s.verb = 0
		}
		if s.verb < 2 {
			made++
		}
		steps = append(steps, s)
	}
	return steps
}

func (s commandStep) target(known, own []Entity) Entity {
	if s.entity < 0 {
		return own[-1-s.entity]
	}
	return known[s.entity]
}

func (s commandStep) position() position { return position{float64(s.v), 1} }
func (s commandStep) small() [3]byte     { return [3]byte{byte(s.v), 2, 3} }
func (s commandStep) big() [3]uint64     { return [3]uint64{2: s.v} }
func (s commandStep) name() string       { return fmt.Sprint("n", s.v) }

// do runs a step directly and reports whether Apply counts the step as done.
func (w *commandWorld) do(s commandStep, own *[]Entity) bool {
	if s.verb < 2 {
		*own = append(*own, w.archetypes[s.archetype].New())
		return true
	}
	e := s.target(w.known, *own)
	switch {
	case s.verb == 2:
		return w.Delete(e)
	case s.verb < 5:
		switch s.column {
		case 0:
			return w.pos.Add(e, s.position()) != nil
		case 1:
			return w.small.Add(e, s.small()) != nil
		case 2:
			return w.big.Add(e, s.big()) != nil
		case 3:
			return w.name.Add(e, s.name()) != nil
		}
		return w.tag.Add(e)
	case s.verb == 5 && s.column < 4:
		switch s.column {
		case 0:
			return w.pos.Set(e, s.position())
		case 1:
			return w.small.Set(e, s.small())
		case 2:
			return w.big.Set(e, s.big())
		}
		return w.name.Set(e, s.name())
	}
	switch s.column {
	case 0:
		return w.pos.Remove(e)
	case 1:
		return w.small.Remove(e)
	case 2:
		return w.big.Remove(e)
	case 3:
		return w.name.Remove(e)
	}
	return w.tag.Remove(e)
}

func (w *commandWorld) record(c *Commands, s commandStep, own *[]Entity) {
	if s.verb < 2 {
		*own = append(*own, c.New(w.archetypes[s.archetype]))
		return
	}
	e := s.target(w.known, *own)
	switch {
	case s.verb == 2:
		c.Delete(e)
	case s.verb < 5:
		switch s.column {
		case 0:
			w.pos.AddLater(c, e, s.position())
		case 1:
			w.small.AddLater(c, e, s.small())
		case 2:
			w.big.AddLater(c, e, s.big())
		case 3:
			w.name.AddLater(c, e, s.name())
		default:
			w.tag.AddLater(c, e)
		}
	case s.verb == 5 && s.column < 4:
		switch s.column {
		case 0:
			w.pos.SetLater(c, e, s.position())
		case 1:
			w.small.SetLater(c, e, s.small())
		case 2:
			w.big.SetLater(c, e, s.big())
		case 3:
			w.name.SetLater(c, e, s.name())
		}
	default:
		switch s.column {
		case 0:
			w.pos.RemoveLater(c, e)
		case 1:
			w.small.RemoveLater(c, e)
		case 2:
			w.big.RemoveLater(c, e)
		case 3:
			w.name.RemoveLater(c, e)
		default:
			w.tag.RemoveLater(c, e)
		}
	}
}

func (w *commandWorld) picture() string {
	var b strings.Builder
	for e := range w.Query().All() {
		fmt.Fprint(&b, e, ":")
		if p := w.pos.Get(e); p != nil {
			fmt.Fprint(&b, " pos ", *p)
		}
		if p := w.small.Get(e); p != nil {
			fmt.Fprint(&b, " small ", *p)
		}
		if p := w.big.Get(e); p != nil {
			fmt.Fprint(&b, " big ", *p)
		}
		if p := w.name.Get(e); p != nil {
			fmt.Fprint(&b, " name ", *p)
		}
		fmt.Fprintln(&b, " tag", w.tag.Has(e))
	}
	for _, a := range w.archetypes {
		fmt.Fprintln(&b, a.Len())
	}
	return b.String()
}

// runCommands runs a stream directly and with Commands, and compares the two worlds.
func runCommands(t *testing.T, stream []byte, workers int, r *rand.Rand, pages vm.Pages, hooks bool) {
	direct, later := newCommandWorld(pages, hooks), newCommandWorld(pages, hooks)
	defer direct.Close()
	defer later.Close()
	cs := make([]*Commands, workers)
	for i := range cs {
		cs[i] = NewCommands(later.World, CommandsOptions{})
	}
	b := &byteStream{stream}
	for round := 0; len(b.rest) > 0; round++ {
		batches := make([][]commandStep, b.next()%20)
		deal := make([][]int, workers)
		for i := range batches {
			batches[i] = b.commandSteps(len(direct.known))
			k := r.IntN(workers)
			deal[k] = append(deal[k], i)
		}
		var want Applied
		var made []Entity
		for _, batch := range batches {
			var own []Entity
			for _, s := range batch {
				if direct.do(s, &own) {
					want.Done++
				} else {
					want.Skipped++
				}
			}
			made = append(made, own...)
		}
		owns := make([][]Entity, len(batches))
		var wg sync.WaitGroup
		for k, c := range cs {
			r.Shuffle(len(deal[k]), func(i, j int) { deal[k][i], deal[k][j] = deal[k][j], deal[k][i] })
			wg.Go(func() {
				for _, i := range deal[k] {
					c.At(i - 5)
					for _, s := range batches[i] {
						later.record(c, s, &owns[i])
					}
				}
			})
		}
		n := 0
		for run := range later.Query(later.pos).Runs() { // the workers record meanwhile
			n += len(later.pos.Slice(run))
		}
		wg.Wait()
		if n != later.pos.Len() {
			t.Fatalf("round %d: the query found %d entities, want %d", round, n, later.pos.Len())
		}
		got, err := later.Apply(cs...)
		if err != nil || got != want {
			t.Fatalf("round %d: Apply returns %+v, %v; want %+v", round, got, err, want)
		}
		for k := range deal {
			for _, i := range deal[k] {
				for j, e := range owns[i] {
					owns[i][j] = cs[k].Resolve(e)
				}
			}
		}
		direct.known = append(direct.known, made...)
		later.known = append(later.known, slices.Concat(owns...)...)
		for i, e := range direct.known {
			if f := later.known[i]; e.Slot() != f.Slot() || e.Generation() != f.Generation() ||
				direct.Alive(e) != later.Alive(f) {
				t.Fatalf("round %d: entity %d is %v, want %v", round, i, f, e)
			}
		}
		if a, b := later.picture(), direct.picture(); a != b {
			t.Fatalf("round %d: with Commands\n%s\ndirectly\n%s", round, a, b)
		}
		if !slices.Equal(direct.told, later.told) {
			t.Fatalf("round %d: calls of hooks with Commands\n%q\ndirectly\n%q", round, later.told,
				direct.told)
		}
		direct.told, later.told = nil, nil
	}
	later.checkInvariants()
}

func TestCommandsModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	bytes := longtest.Pick(10_000, 60_000)
	for _, workers := range []int{1, 2, 5} {
		for _, hooks := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d workers, hooks %v", workers, hooks), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, uint64(workers)))
				runCommands(t, randomStream(r, bytes), workers, r, vm.PagesAuto, hooks)
			})
		}
	}
}

// FuzzCommands runs the model of Commands on its input. The first byte chooses the number of workers, the
// pages and the hooks.
func FuzzCommands(f *testing.F) {
	f.Add([]byte{0x13, 3, 5, 0, 0, 1, 9, 3, 3, 2, 2, 7, 3, 0, 5, 1, 2, 3})
	f.Fuzz(func(t *testing.T, stream []byte) {
		if len(stream) < 2 {
			return
		}
		r := rand.New(rand.NewPCG(1, uint64(stream[0])))
		runCommands(t, stream[1:min(len(stream), 1<<13)], int(stream[0]%4)+1, r, vm.Pages(stream[0]/64),
			stream[0]&16 != 0)
	})
}
