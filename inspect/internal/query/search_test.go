package query

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

type condition struct {
	text  string
	holds func(f *testWorld, e vast.Entity) bool // computes the expected result without the package
}

func bodyIs(test func(*body) bool) func(*testWorld, vast.Entity) bool {
	return func(f *testWorld, e vast.Entity) bool { b := f.body.Get(e); return b != nil && test(b) }
}

func numbersAre(test func(*numbers) bool) func(*testWorld, vast.Entity) bool {
	return func(f *testWorld, e vast.Entity) bool { n := f.numbers.Get(e); return n != nil && test(n) }
}

func illnessIs(test func(*illness) bool) func(*testWorld, vast.Entity) bool {
	return func(f *testWorld, e vast.Entity) bool { n := f.illness.Get(e); return n != nil && test(n) }
}

func noteIs(test func(*note) bool) func(*testWorld, vast.Entity) bool {
	return func(f *testWorld, e vast.Entity) bool { n := f.note.Get(e); return n != nil && test(n) }
}

func isChildOf(i int) func(*testWorld, vast.Entity) bool {
	return func(f *testWorld, e vast.Entity) bool {
		t, ok := f.childOf.Target(e)
		return ok && t == f.entities[i]
	}
}

// leadsTo returns a function that reports whether the target of an entity passes a test. If up is set, the
// function reports whether any ancestor passes the test.
func leadsTo(up bool, test func(f *testWorld, e vast.Entity) bool) func(*testWorld, vast.Entity) bool {
	return func(f *testWorld, e vast.Entity) bool {
		for range 20 { // 20 exceeds the number of entities that are targets
			target, ok := f.childOf.Target(e)
			switch {
			case !ok:
				return false
			case test(f, target) || !up:
				return test(f, target)
			}
			e = target
		}
		return false
	}
}

var conditions = []condition{
	{"where ChildOf(Note, !Dead)", leadsTo(false, func(f *testWorld, e vast.Entity) bool {
		return f.note.Has(e) && !f.dead.Has(e)
	})},
	{"where ChildOf(ChildOf)", leadsTo(false, func(f *testWorld, e vast.Entity) bool {
		return f.childOf.Has(e)
	})},
	{"up ChildOf(Note)", leadsTo(true, func(f *testWorld, e vast.Entity) bool { return f.note.Has(e) })},
	{"up ChildOf(Dead, Illness)", leadsTo(true, func(f *testWorld, e vast.Entity) bool {
		return f.dead.Has(e) && f.illness.Has(e)
	})},
	{"Body", bodyIs(func(*body) bool { return true })},
	{"numbers", numbersAre(func(*numbers) bool { return true })},
	{"Dead", func(f *testWorld, e vast.Entity) bool { return f.dead.Has(e) }},
	{"Illness", illnessIs(func(*illness) bool { return true })},
	{"Note", noteIs(func(*note) bool { return true })},
	{"ChildOf", func(f *testWorld, e vast.Entity) bool { return f.childOf.Has(e) }},
	{"ChildOf(*)", func(f *testWorld, e vast.Entity) bool { return f.childOf.Has(e) }},
	{"ChildOf(Paris 0)", isChildOf(0)},
	{"ChildOf(New York 7)", isChildOf(7)},
	{"Body.X > 0.5", bodyIs(func(b *body) bool { return b.X > 0.5 })},
	{"Body.X >= 0.3", bodyIs(func(b *body) bool { return b.X >= 0.3 })},
	{"Body.X < 0.3", bodyIs(func(b *body) bool { return b.X < 0.3 })},
	{"Body.X <= 0.7", bodyIs(func(b *body) bool { return b.X <= 0.7 })},
	{"Body.X == 0.7", bodyIs(func(b *body) bool { return b.X == 0.7 })},
	{"Body.X != 0.7", bodyIs(func(b *body) bool { return b.X != 0.7 })},
	{"Body.X == NaN", bodyIs(func(b *body) bool { return b.X != b.X })},
	{"Body.X != nan", bodyIs(func(b *body) bool { return b.X == b.X })},
	{"Body.Mass < Inf", bodyIs(func(b *body) bool { return b.Mass < math.Inf(1) })},
	{"Body.Mass > -Inf", bodyIs(func(b *body) bool { return b.Mass > math.Inf(-1) })},
	{"Body.Mass == -2", bodyIs(func(b *body) bool { return b.Mass == -2 })},
	{"Numbers.I8 > -3", numbersAre(func(n *numbers) bool { return n.I8 > -3 })},
	{"Numbers.I8 <= -3.5", numbersAre(func(n *numbers) bool { return n.I8 <= -4 })},
	{"Numbers.I8 > 300", numbersAre(func(n *numbers) bool { return false })},
	{"Numbers.I8 != 300", numbersAre(func(n *numbers) bool { return true })},
	{"Numbers.I16 < 1e3", numbersAre(func(n *numbers) bool { return n.I16 < 1000 })},
	{"Numbers.I32 >= 0x100", numbersAre(func(n *numbers) bool { return n.I32 >= 256 })},
	{"Numbers.I64 < 9223372036854775807", numbersAre(func(n *numbers) bool { return n.I64 < math.MaxInt64 })},
	{"Numbers.I64 > 9223372036854775807", numbersAre(func(n *numbers) bool { return false })},
	{"Numbers.I64 < -9223372036854775808", numbersAre(func(n *numbers) bool { return false })},
	{"Numbers.I64 < 1e30", numbersAre(func(n *numbers) bool { return true })},
	{"Numbers.U8 >= 100", numbersAre(func(n *numbers) bool { return n.U8 >= 100 })},
	{"Numbers.U8 > -1", numbersAre(func(n *numbers) bool { return true })},
	{"Numbers.U8 < -1", numbersAre(func(n *numbers) bool { return false })},
	{"Numbers.U16 == 1.5", numbersAre(func(n *numbers) bool { return false })},
	{"Numbers.U16 != 1.5", numbersAre(func(n *numbers) bool { return true })},
	{"Numbers.U32 <= 2147483648", numbersAre(func(n *numbers) bool { return n.U32 <= 1<<31 })},
	{"Numbers.U64 > 9223372036854775808", numbersAre(func(n *numbers) bool { return n.U64 > 1<<63 })},
	{"Numbers.On == true", numbersAre(func(n *numbers) bool { return n.On })},
	{"Numbers.On != TRUE", numbersAre(func(n *numbers) bool { return !n.On })},
	{"numbers.in[1].deep < 0", numbersAre(func(n *numbers) bool { return n.In[1].Deep < 0 })},
	{"Illness.Stage == Severe", illnessIs(func(i *illness) bool { return i.Stage == 1 })},
	{"Illness.Stage > gone", illnessIs(func(i *illness) bool { return i.Stage > -1 })},
	{"Illness.Stage < 1", illnessIs(func(i *illness) bool { return i.Stage < 1 })},
	{"Illness.Level == High", illnessIs(func(i *illness) bool { return i.Level == 1 })},
	{`Note.Text == "Paris"`, noteIs(func(n *note) bool { return n.Text == "Paris" })},
	{"Note.Text != Paris", noteIs(func(n *note) bool { return n.Text != "Paris" })},
	{"Note.Text ~ PARIS", noteIs(func(n *note) bool {
		return strings.Contains(strings.ToLower(n.Text), "paris")
	})},
	{"Note.Text !~ ä", noteIs(func(n *note) bool { return n.Text != "Ähre" })},
	{"Note.Text >= paris", noteIs(func(n *note) bool { return n.Text >= "paris" })},
	{"Note.Text < Paris", noteIs(func(n *note) bool { return n.Text < "Paris" })},
	{"Note.Size == 2", noteIs(func(n *note) bool { return n.Size == 2 })},
	{`"Age in years" > 50`, func(f *testWorld, e vast.Entity) bool {
		a := f.age.Get(e)
		return a != nil && *a > 50
	}},
	{`Illness.Source == "Paris 0"`, func(f *testWorld, e vast.Entity) bool {
		i := f.illness.Get(e)
		return i != nil && i.Source == f.entities[0]
	}},
	{`Illness.Source != "Paris 0"`, func(f *testWorld, e vast.Entity) bool {
		i := f.illness.Get(e)
		return i != nil && i.Source != f.entities[0]
	}},
	{`Name == "Paris 14"`, func(f *testWorld, e vast.Entity) bool { return e == f.entities[14] }},
	{`Name != "Paris 14"`, func(f *testWorld, e vast.Entity) bool {
		n, ok := f.names.Of(e)
		return ok && n != "Paris 14"
	}},
	{"Name ~ york", func(f *testWorld, e vast.Entity) bool {
		n, _ := f.names.Of(e)
		return strings.Contains(n, "York")
	}},
}

func TestSearchesOfOneTerm(t *testing.T) {
	f := newTestWorld(t, 2000)
	for _, c := range conditions {
		f.check(t, c.text, func(e vast.Entity) bool { return c.holds(f, e) })
		f.check(t, "not "+c.text, func(e vast.Entity) bool { return !c.holds(f, e) })
	}
	f.check(t, "", func(vast.Entity) bool { return true })
	f.check(t, "?Body, ?Illness", func(vast.Entity) bool { return true })
	f.check(t, "ChildOf("+f.entities[3].String()+")", func(e vast.Entity) bool { return isChildOf(3)(f, e) })
}

func TestSearchesAtRandom(t *testing.T) {
	f := newTestWorld(t, 2000)
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 1))
	found := 0
	for i := range 1500 {
		text, matches := f.randomQuery(r)
		q, err := Parse(text)
		if err != nil {
			t.Fatalf("seed %d, query %d, %q: %v", seed, i, text, err)
		}
		if _, err := Compile(q, f.schema); err != nil {
			if !strings.Contains(err.Error(), "both required and excluded") &&
				!strings.Contains(err.Error(), "one target") {
				t.Fatalf("seed %d, query %d, %q: %v", seed, i, text, err)
			}
			continue
		}
		found += f.check(t, text, matches)
	}
	if found < 10_000 {
		t.Errorf("all queries together found %d entities, want at least 10,000", found)
	}
}

func (f *testWorld) randomQuery(r *rand.Rand) (text string, matches func(vast.Entity) bool) {
	var terms []string
	var tests []func(vast.Entity) bool
	for range 1 + r.IntN(4) {
		var either []string
		var any []condition
		for range 1 + r.IntN(2)*r.IntN(3) {
			c := conditions[r.IntN(len(conditions))]
			either, any = append(either, c.text), append(any, c)
		}
		not := len(any) == 1 && r.IntN(3) == 0
		term := strings.Join(either, " | ")
		if not {
			term = "!" + term
		}
		terms = append(terms, term)
		tests = append(tests, func(e vast.Entity) bool {
			return slices.ContainsFunc(any, func(c condition) bool { return c.holds(f, e) }) != not
		})
	}
	return strings.Join(terms, ", "), func(e vast.Entity) bool {
		return !slices.ContainsFunc(tests, func(test func(vast.Entity) bool) bool { return !test(e) })
	}
}

// check compares the result of a search with matches. It returns the number of entities found.
func (f *testWorld) check(t *testing.T, text string, matches func(vast.Entity) bool) int {
	t.Helper()
	s := f.search(t, text)
	var want, got []vast.Entity
	for _, e := range f.entities {
		if matches(e) {
			want = append(want, e)
		}
	}
	slices.SortFunc(want, func(a, b vast.Entity) int { return int(a.Slot()) - int(b.Slot()) })
	n := 0
	for lo := 0; lo < f.Slots(); lo += s.Step() {
		words := make([]uint64, s.Step()/64)
		n += s.Words(lo, lo+s.Step(), words)
		for i, mask := range words {
			for ; mask != 0; mask &= mask - 1 {
				e, ok := probe.EntityAt(f.World, lo+i*64+bits.TrailingZeros64(mask))
				if !ok {
					t.Fatalf("%q found an empty slot", text)
				}
				got = append(got, e)
			}
		}
	}
	if n != len(want) || !slices.Equal(got, want) {
		t.Fatalf("%q found %d entities, first %v, want %d, first %v", text, n, first(got), len(want),
			first(want))
	}
	return n
}

func first(list []vast.Entity) []vast.Entity { return list[:min(5, len(list))] }
