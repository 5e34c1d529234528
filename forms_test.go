package vast

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

// formsWorld is a world with random entities, and a model of these entities. A column's number is its index
// in columns.
type formsWorld struct {
	*World
	r       *rand.Rand
	columns []AnyColumn
	marks   []Column[uint16]        // the columns with even numbers
	tags    []Tag                   // the columns with odd numbers
	living  map[Entity]map[int]bool // the numbers of the columns that a living entity has
	dead    []Entity
}

func newFormsWorld(r *rand.Rand, columns, entities int) *formsWorld {
	f := &formsWorld{World: NewWorld(Options{MaxEntities: 1 << 14}), r: r, living: map[Entity]map[int]bool{}}
	for i := range columns {
		if i%2 == 0 {
			f.marks = append(f.marks, NewColumn[uint16](f.World).Named(fmt.Sprint("c", i)))
			f.columns = append(f.columns, f.marks[i/2])
		} else {
			f.tags = append(f.tags, NewTag(f.World, fmt.Sprint("t", i)))
			f.columns = append(f.columns, f.tags[i/2])
		}
	}
	for len(f.living) < entities {
		set := f.randomColumns(3)
		f.Archetype(f.numbered(set)...).NewN(1+r.IntN(300), func(run Run) {
			for i := range run.Len() {
				f.living[run.Entity(i)] = map[int]bool{}
				for _, c := range set {
					f.living[run.Entity(i)][c] = true
				}
			}
		})
	}
	for _, e := range f.inOrder() {
		switch r.IntN(12) {
		case 0, 1, 2:
			f.toggle(e, f.randomColumn())
		case 3:
			f.Delete(e)
			delete(f.living, e)
			f.dead = append(f.dead, e)
		}
	}
	return f
}

func (f *formsWorld) toggle(e Entity, c int) {
	f.living[e][c] = !f.living[e][c]
	if f.living[e][c] {
		if c%2 == 0 {
			f.marks[c/2].Add(e, uint16(c))
		} else {
			f.tags[c/2].Add(e)
		}
		return
	}
	delete(f.living[e], c)
	if c%2 == 0 {
		f.marks[c/2].Remove(e)
	} else {
		f.tags[c/2].Remove(e)
	}
}

// randomColumn mostly returns one of seven columns. Columns whose numbers differ by 64 share a bit in the
// masks of words.
func (f *formsWorld) randomColumn() int {
	if f.r.IntN(8) == 0 {
		return f.r.IntN(len(f.columns))
	}
	return []int{0, 1, 2, 3, 64, 65, 66}[f.r.IntN(7)] % len(f.columns)
}

func (f *formsWorld) randomColumns(max int) (set []int) {
	for range f.r.IntN(max + 1) {
		if c := f.randomColumn(); !slices.Contains(set, c) {
			set = append(set, c)
		}
	}
	return set
}

func (f *formsWorld) numbered(set []int) (cols []AnyColumn) {
	for _, c := range set {
		cols = append(cols, f.columns[c])
	}
	return cols
}

func (f *formsWorld) inOrder() []Entity { return slices.SortedFunc(maps.Keys(f.living), bySlot) }

// list returns a random list of living and stale entities, with duplicates. Half of the lists are shuffled.
func (f *formsWorld) list() (list []Entity) {
	all := f.inOrder()
	for lo := 0; lo < len(all); {
		n := min(1+f.r.IntN(400), len(all)-lo)
		switch f.r.IntN(3) {
		case 0:
			list = append(list, all[lo:lo+n]...)
		case 1:
			list = append(list, all[lo+n/2])
		}
		lo += n
	}
	list = append(list, list[:len(list)/3]...)
	list = append(list, f.dead...)
	list = append(list, Entity{}, EntityOf(1<<40+1<<31))
	if f.r.IntN(2) == 0 {
		f.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return list
}

// query makes a random query, and returns the entities that the query should yield, in the order of slots. It
// calls the methods of Query in random order.
func (f *formsWorld) query() (q Query, name string, optional []int, want []Entity) {
	with, minus, any, others := f.randomColumns(2), f.randomColumns(2), f.randomColumns(3), f.randomColumns(3)
	minus = slices.DeleteFunc(minus, func(c int) bool { return slices.Contains(with, c) })
	decided := func(c int) bool { return slices.Contains(with, c) || slices.Contains(minus, c) }
	any = slices.DeleteFunc(any, decided)
	optional = slices.DeleteFunc(others, decided)
	var exact, listed bool
	in := map[Entity]bool{}
	q = f.Query(f.numbered(with)...)
	parts := []func(){
		func() { q = q.Without(f.numbered(minus)...) },
		func() {
			if len(any) > 0 {
				q = q.Any(f.numbered(any)...)
			}
		},
		func() { q = q.Optional(f.numbered(optional)...) },
	}
	if exact = f.r.IntN(2) == 0; exact {
		parts = append(parts, func() { q = q.Exactly() })
	}
	if listed = f.r.IntN(3) == 0; listed {
		list, again := f.list(), f.list()
		for _, e := range again {
			in[e] = slices.Contains(list, e)
		}
		parts = append(parts, func() {
			q = q.Among(list).Among(again)
			clear(list) // Among has copied the list
		})
	}
	f.r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	for _, part := range parts {
		part()
	}
	for _, e := range f.inOrder() {
		has := f.living[e]
		lacks := func(c int) bool { return !has[c] }
		if slices.ContainsFunc(with, lacks) ||
			slices.ContainsFunc(minus, func(c int) bool { return has[c] }) ||
			len(any) > 0 && !slices.ContainsFunc(any, func(c int) bool { return has[c] }) ||
			listed && !in[e] {
			continue
		}
		foreign := false
		for c := range has {
			foreign = foreign || !slices.Contains(with, c) && !slices.Contains(any, c) &&
				!slices.Contains(optional, c)
		}
		if !exact || !foreign {
			want = append(want, e)
		}
	}
	name = fmt.Sprintf("with %v, without %v, any %v, optional %v, exact %v, listed %v", with, minus, any,
		optional, exact, listed)
	return q, name, optional, want
}

// check checks that each method that runs a query yields the entities of want in order.
func (f *formsWorld) check(t *testing.T, q Query, name string, optional []int, want []Entity) {
	t.Helper()
	var got []Entity
	alike := func(a, b Entity) bool {
		return !slices.ContainsFunc(optional, func(c int) bool { return f.living[a][c] != f.living[b][c] })
	}
	last := Entity{slot: 1 << 31}
	for run := range q.Runs() {
		first := run.Entity(0)
		if len(got) > 0 && last.slot+1 == first.slot && alike(last, first) {
			t.Fatalf("%s: the run at slot %d should be part of the previous run", name, first.slot)
		}
		for i := range run.Len() {
			last = run.Entity(i)
			if !alike(first, last) {
				t.Fatalf("%s: slots %d and %d of a run differ in optional components", name, first.slot,
					last.slot)
			}
			got = append(got, last)
		}
		for _, c := range optional {
			has := f.living[first][c]
			if c%2 == 1 {
				if f.tags[c/2].In(run) != has {
					t.Fatalf("%s: In of tag %d returns %[4]v in the run at %[3]d", name, c, run.Start(), !has)
				}
			} else if s := f.marks[c/2].TrySlice(run); (s != nil) != has || has &&
				(len(s) != run.Len() || &s[0] != f.marks[c/2].Get(first)) {
				t.Fatalf("%s: TrySlice of column %d returns %[4]v in the run at %[3]d", name, c, run.Start(),
					s)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%s: the runs have %d entities, want %d", name, len(got), len(want))
	}
	if got = slices.Collect(q.All()); !slices.Equal(got, want) || q.Count() != len(want) {
		t.Fatalf("%s: All yields %d entities, Count is %d, want %d", name, len(got), q.Count(), len(want))
	}
	got = got[:0]
	for word, mask := range q.Words() {
		for ; mask != 0; mask &= mask - 1 {
			slot := uint32(word)*64 + trailingZeros(mask)
			got = append(got, Entity{slot, *f.generation(slot)})
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%s: Words yields %d entities, want %d", name, len(got), len(want))
	}
	got = got[:0]
	for batch := range q.Batches(1 + f.r.IntN(500)) {
		before := len(got)
		got = slices.AppendSeq(got, batch.All())
		if batch.Len() != len(got)-before {
			t.Fatalf("%s: a batch with Len %d yields %d entities", name, batch.Len(), len(got)-before)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%s: the batches have %d entities, want %d", name, len(got), len(want))
	}
	first, found := q.First()
	one, single := q.Single()
	if found != (len(want) > 0) || found && (first != want[0] || one != want[0]) ||
		single != (len(want) == 1) {
		t.Fatalf("%s: First returns %v, %v and Single %v, %v; %d entities match",
			name, first, found, one, single, len(want))
	}
}

// TestForms runs random queries with the methods Without, Any, Optional, Exactly and Among.
func TestForms(t *testing.T) {
	longtest.OneGoroutine(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rounds := longtest.Pick(60, 150)
	for _, columns := range []int{7, 70, 140} { // above 64, columns share bits in the masks of words
		r := rand.New(rand.NewPCG(seed, uint64(columns)))
		f := newFormsWorld(r, columns, 5000)
		some := 0
		for range rounds {
			q, name, optional, want := f.query()
			f.check(t, q, name, optional, want)
			some += min(len(want), 1)
			if all := f.inOrder(); len(all) > 0 {
				f.toggle(all[r.IntN(len(all))], f.randomColumn())
			}
		}
		if some < rounds/4 {
			t.Errorf("only %d of %d queries match an entity", some, rounds)
		}
		f.checkInvariants()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFormsInBulk(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	rounds := longtest.Pick(30, 150)
	f := newFormsWorld(r, 70, 4000)
	defer f.Close()
	for range rounds {
		q, name, _, want := f.query()
		c := f.randomColumn()
		n, expected := 0, len(want)
		had := 0
		for _, e := range want {
			if f.living[e][c] {
				had++
			}
		}
		switch op := r.IntN(7); {
		case op < 2:
			name = "AddAll, " + name
			if c%2 == 0 {
				n = f.marks[c/2].AddAll(q, 5)
			} else {
				n = f.tags[c/2].AddAll(q)
			}
			for _, e := range want {
				f.living[e][c] = true
			}
		case op < 4:
			name, expected = "RemoveAll, "+name, had
			if c%2 == 0 {
				n = f.marks[c/2].RemoveAll(q)
			} else {
				n = f.tags[c/2].RemoveAll(q)
			}
			for _, e := range want {
				delete(f.living[e], c)
			}
		case op < 5:
			name, c, expected = "SetAll, "+name, 0, 0
			for _, e := range want {
				if f.living[e][c] {
					expected++
				}
			}
			n = f.marks[c].SetAll(q, 7)
		case op < 6:
			add, remove := f.randomColumn(), f.randomColumn()
			if add == remove {
				continue
			}
			name = "Exchange, " + name
			n = f.Exchange(q, f.numbered([]int{add}), f.numbered([]int{remove}))
			for _, e := range want {
				f.living[e][add] = true
				delete(f.living[e], remove)
			}
		case len(want) < 1000:
			name = "DeleteAll, " + name
			n = f.DeleteAll(q)
			for _, e := range want {
				delete(f.living, e)
			}
		default:
			continue
		}
		if n != expected {
			t.Fatalf("%s: returns %d, want %d", name, n, expected)
		}
		f.checkInvariants()
		total := 0
		for e, has := range f.living {
			total += len(has)
			for c := range has {
				if present := c%2 == 0 && f.marks[c/2].Has(e) || c%2 == 1 && f.tags[c/2].Has(e); !present {
					t.Fatalf("%s: %v lacks column %d", name, e, c)
				}
			}
		}
		for _, s := range f.Stats().Columns {
			total -= s.Entities
		}
		if f.Len() != len(f.living) || total != 0 {
			t.Fatalf("%s: %d entities, want %d; %d components are missing",
				name, f.Len(), len(f.living), total)
		}
	}
}
