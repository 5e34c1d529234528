package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

// guild is a region whose entities have numbers. Some entities also have IDs.
type guild struct {
	*World
	w       *vast.World
	ids     vast.Column[ID]
	numbers vast.Column[uint64]
	friends vast.Column[Remote]
	travel  vast.SparseColumn[Travel]
	tick    uint64
	work    func() // what the next ticks do, or nil
	panics  bool   // a callback panics when an entity with a number is deleted
}

const guildRegions = 3

func newGuild(t testing.TB, region int, o vast.Options) *guild {
	t.Helper()
	o.Mark, o.MaxEntities = uint8(1+region), 1<<16
	g := &guild{w: vast.NewWorld(o)}
	g.numbers, g.ids = vast.NewColumn[uint64](g.w), vast.NewColumn[ID](g.w)
	g.friends = vast.NewColumn[Remote](g.w)
	g.travel = vast.NewSparseColumn[Travel](g.w)
	late := vast.NewColumn[uint8](g.w)
	g.w.Require(g.numbers, late)
	var err error
	g.World, err = NewWorld(WorldOptions{World: g.w, Travel: g.travel, Identity: g.ids, Region: region,
		Regions: guildRegions, Tick: func(uint64, [][]byte) error {
			if g.work != nil {
				g.work()
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	late.OnRemove(func(vast.Entity, *uint8) {
		if g.panics {
			panic("the loss of a number")
		}
	})
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g *guild) step(t testing.TB, received ...[]byte) [][]byte {
	t.Helper()
	g.tick++
	sections, _, err := g.Tick(g.tick, received, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sections
}

func (g *guild) member() (vast.Entity, ID) {
	e := g.w.Archetype(g.numbers, g.ids).New()
	return e, *g.ids.Get(e)
}

// checkFind checks that Find returns want, or no entity if want is zero.
func (g *guild) checkFind(t testing.TB, id ID, want vast.Entity) {
	t.Helper()
	if got, ok := g.Find(id); got != want || ok == want.IsZero() {
		t.Fatalf("Find(%v) returned %v, %v, want %v", id, got, ok, want)
	}
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// says checks that f panics, and that the panic contains want.
func says(t *testing.T, f func(), want string) {
	t.Helper()
	if v := panicOf(f); !strings.Contains(fmt.Sprint(v), want) {
		t.Errorf("the panic is %v, want %q", v, want)
	}
}

func TestIDs(t *testing.T) {
	for _, c := range []struct {
		region int
		number uint64
		id     ID
		text   string
	}{
		{0, 1, 1, "0/1"},
		{1, 1, 1<<48 | 1, "1/1"},
		{65535, 1<<48 - 1, 1<<64 - 1, "65535/281474976710655"},
	} {
		id := idOf(c.region, c.number)
		if id != c.id || id.Origin() != c.region || id.number() != c.number || id.String() != c.text {
			t.Errorf("region %d and number %d give the ID %x with origin %d, number %d and text %v",
				c.region, c.number, uint64(id),
				id.Origin(), id.number(), id)
		}
	}
	if text := ID(0).String(); text != "none" {
		t.Errorf("the zero ID is %q, want none", text)
	}
	if n := unsafe.Sizeof(Remote{}); n != 16 {
		t.Errorf("a Remote has %d bytes, want 16", n)
	}
	if !(Remote{}).IsZero() || (Remote{ID: 1}).IsZero() {
		t.Error("IsZero does not tell the zero Remote from a Remote with an ID")
	}
}

// TestRemoteBytes: the bytes of a Remote in a column depend only on its fields, so that all processes save
// equal states.
func TestRemoteBytes(t *testing.T) {
	g := newGuild(t, 2, vast.Options{})
	e, id := g.member()
	p := g.friends.Add(e, Remote{})
	bytes := (*[16]byte)(unsafe.Pointer(p))
	for i := range bytes {
		bytes[i] = 0xee
	}
	*p = g.Remote(e)
	want := [16]byte{0: byte(id), 6: 2, 8: 2}
	if *bytes != want {
		t.Errorf("the bytes are %x, want %x", *bytes, want)
	}
	for i := range bytes {
		bytes[i] = 0xee
	}
	g.friends.Set(e, Remote{ID: id, Region: 2})
	if *bytes != want {
		t.Errorf("Set wrote %x, want %x", *bytes, want)
	}
}

func TestIdentity(t *testing.T) {
	g := newGuild(t, 1, vast.Options{})
	plain := g.w.Archetype(g.numbers).New()
	if got, want := g.Remote(plain), (Remote{ID: idOf(1, 1), Region: 1}); got != want {
		t.Errorf("Remote returned %v, want %v", got, want)
	}
	if got := g.Remote(plain).ID; got != idOf(1, 1) {
		t.Errorf("the second Remote has the ID %v, want %v", got, idOf(1, 1))
	}
	born, second := g.member()
	if second != idOf(1, 2) || g.Remote(born).ID != second {
		t.Errorf("an entity is born with the ID %v, want %v", second, idOf(1, 2))
	}
	var many []vast.Entity
	g.w.Archetype(g.ids).NewN(3, func(run vast.Run) {
		for _, e := range run.All() {
			many = append(many, e)
		}
	})
	cs := vast.NewCommands(g.w, vast.CommandsOptions{})
	later := g.w.Archetype(g.numbers).New()
	g.ids.AddLater(cs, later, 0)
	if _, err := g.w.Apply(cs); err != nil {
		t.Fatal(err)
	}
	for i, e := range append(many, later) {
		g.checkFind(t, idOf(1, uint64(3+i)), e)
	}
	g.checkFind(t, idOf(1, 7), vast.Entity{})
	g.checkFind(t, 0, vast.Entity{})

	g.w.Delete(born)
	g.checkFind(t, second, vast.Entity{})
	g.ids.Remove(plain)
	g.checkFind(t, idOf(1, 1), vast.Entity{})
	if got := g.Remote(plain).ID; got != idOf(1, 7) {
		t.Errorf("an entity that has lost its ID gets the ID %v, want %v", got, idOf(1, 7))
	}
	if !g.Remote(born).IsZero() {
		t.Error("a deleted entity has a Remote")
	}
	g.ids.Remove(many[0]) // the program may give the lost ID to another entity of the same region
	g.ids.Add(plain, 0)
	g.ids.Remove(plain)
	g.ids.Add(plain, idOf(1, 3))
	g.checkFind(t, idOf(1, 3), plain)
	if n := g.World.ids.given.Given; n != 7 {
		t.Errorf("%d IDs were given, want 7", n)
	}
}

func TestRegister(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, i))
		m := &registerModel{t: t, r: r, guild: newGuild(t, 1, vast.Options{}), of: map[uint64]ID{},
			owner: map[ID]uint64{}}
		for range 400 {
			what := m.change()
			m.check(what)
		}
	}
}

// registerModel is a model of the IDs. It identifies entities by their numbers.
type registerModel struct {
	*guild
	t     *testing.T
	r     *rand.Rand
	last  uint64        // number of the newest entity
	of    map[uint64]ID // ID of each living entity, by number of the entity; 0: the model knows no ID
	owner map[ID]uint64 // number of the last entity that had the ID
	onWay [][]byte      // sections from this region to itself
}

func (m *registerModel) fill(es ...vast.Entity) {
	for _, e := range es {
		m.last++
		m.numbers.Set(e, m.last)
		m.of[m.last] = 0
	}
}

func (m *registerModel) some() []vast.Entity {
	all := slices.Collect(m.w.Query(m.numbers).All())
	m.r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all[:min(len(all), 1+m.r.IntN(8))]
}

func (m *registerModel) forget(es []vast.Entity) {
	for _, e := range es {
		delete(m.of, *m.numbers.Get(e))
	}
}

// change changes the world at random, and returns the name of the change.
func (m *registerModel) change() string {
	with := m.w.Archetype(m.numbers, m.ids)
	some := m.some()
	switch m.r.IntN(16) {
	case 0:
		m.fill(with.New())
		return "New"
	case 1:
		var es []vast.Entity
		with.NewN(1+m.r.IntN(20), func(run vast.Run) {
			for _, e := range run.All() {
				es = append(es, e)
			}
		})
		m.fill(es...)
		return "NewN"
	case 2:
		m.fill(m.w.Archetype(m.numbers).New())
		return "New without an ID"
	case 3, 4:
		for _, e := range some {
			m.Remote(e)
		}
		return "Remote"
	case 5:
		for _, e := range some {
			m.ids.Remove(e)
			m.of[*m.numbers.Get(e)] = 0
		}
		return "Remove"
	case 6:
		m.forget(some)
		for _, e := range some {
			m.w.Delete(e)
		}
		return "Delete"
	case 7:
		m.forget(some)
		m.w.DeleteAll(m.w.Query().Among(some))
		return "DeleteAll"
	case 8:
		with.Pack(vast.MoveOptions{})
		m.w.Archetype(m.numbers).Pack(vast.MoveOptions{})
		return "Pack"
	case 9:
		m.w.Regroup(m.w.Query(), vast.MoveOptions{})
		return "Regroup"
	case 10:
		m.ids.AddAll(m.w.Query(m.numbers).Without(m.ids).Among(some), 0)
		return "AddAll"
	case 11:
		return m.exchange(some)
	case 12:
		m.work = func() {
			for _, e := range some {
				m.travel.Add(e, Travel{To: 1})
			}
		}
		m.send()
		m.work = nil
		m.receive(some)
		return "travelling"
	case 13:
		m.reload()
		return "Load"
	case 14:
		m.panics = true
		if v := panicOf(func() { m.w.DeleteAll(m.w.Query().Among(some)) }); v == nil && len(some) > 0 {
			m.t.Fatal("the callback does not panic")
		}
		m.panics = false
		return "a panic"
	}
	if m.r.IntN(20) > 0 {
		return m.change()
	}
	m.w.Reset()
	clear(m.of)
	return "Reset"
}

func (m *registerModel) exchange(some []vast.Entity) string {
	if len(some) < 2 || m.of[*m.numbers.Get(some[0])] == 0 {
		return "nothing"
	}
	from, to := some[0], some[1]
	id := m.of[*m.numbers.Get(from)]
	m.ids.Remove(from)
	m.ids.Remove(to)
	m.ids.Add(to, id)
	m.of[*m.numbers.Get(from)], m.of[*m.numbers.Get(to)] = 0, id
	m.owner[id] = *m.numbers.Get(to)
	return "an exchange"
}

func (m *registerModel) send() {
	m.onWay = append(m.onWay[:0], nil, m.step(m.t)[1])
}

// receive checks that the travellers are not in the world, and runs a tick, in which they arrive.
func (m *registerModel) receive(travellers []vast.Entity) {
	for number, id := range m.of {
		e, ok := m.Find(id)
		if ok != (id != 0 && m.w.Alive(e)) {
			m.t.Fatalf("Find(%v) of number %d returned %v, %v", id, number, e, ok)
		}
	}
	for _, e := range travellers {
		if m.w.Alive(e) {
			m.t.Fatalf("entity %v travels, and is still here", e)
		}
	}
	for id := range m.owner {
		if e, ok := m.Find(id); ok && slices.Contains(travellers, e) {
			m.t.Fatalf("the entity with the ID %v travels, and Find finds it", id)
		}
	}
	m.step(m.t, m.onWay...)
}

// reload loads the state of the world into a new world, which replaces the old one.
func (m *registerModel) reload() {
	state, err := m.Save()
	if err != nil {
		m.t.Fatal(err)
	}
	other := newGuild(m.t, 1, vast.Options{})
	if err := other.Load(state); err != nil {
		m.t.Fatal(err)
	}
	if err := other.Compare(state); err != nil {
		m.t.Fatal(err)
	}
	m.guild = other
}

func (m *registerModel) check(after string) {
	m.t.Helper()
	at := map[ID]vast.Entity{}
	n := 0
	for e := range m.w.Query(m.numbers).All() {
		number := *m.numbers.Get(e)
		want, ok := m.of[number]
		if n++; !ok {
			m.t.Fatalf("after %s: number %d is in the world, and not in the model", after, number)
		}
		p := m.ids.Get(e)
		if p == nil {
			if want != 0 {
				m.t.Fatalf("after %s: number %d has lost the ID %v", after, number, want)
			}
			continue
		}
		owner, known := m.owner[*p]
		switch {
		case want == 0 && known:
			m.t.Fatalf("after %s: number %d gets the ID %v of number %d", after, number, *p, owner)
		case want != 0 && want != *p:
			m.t.Fatalf("after %s: number %d has the ID %v instead of %v", after, number, *p, want)
		}
		m.of[number], m.owner[*p], at[*p] = *p, number, e
	}
	if n != len(m.of) {
		m.t.Fatalf("after %s: %d entities instead of %d", after, n, len(m.of))
	}
	for id := range m.owner {
		m.checkFind(m.t, id, at[id])
	}
	m.World.ids.forget()
	m.World.ids.checkInvariants()
}

// TestLostIDs: the index keeps at most maxLost lost IDs in the middle of a tick, and none after the tick.
func TestLostIDs(t *testing.T) {
	g := newGuild(t, 0, vast.Options{})
	r := g.World.ids
	for range 3 * maxLost {
		e, _ := g.member()
		g.w.Delete(e)
	}
	if n := r.index.Len(); n > maxLost {
		t.Errorf("the index has %d deleted entities, want %d or fewer", n, maxLost)
	}
	g.w.Archetype(g.ids).NewN(100, nil)
	g.step(t)
	if n := r.index.Len(); n != 100 || len(r.lost) != 0 {
		t.Errorf("the index has %d entities, want 100; %d lost IDs were not forgotten, want 0", n,
			len(r.lost))
	}
}

// TestGivenIsState: the number of given IDs belongs to the state, so a loaded region gives no ID twice.
func TestGivenIsState(t *testing.T) {
	a := newGuild(t, 1, vast.Options{})
	e, _ := a.member()
	_, second := a.member()
	last, third := a.member()
	a.w.Delete(e)
	a.w.Delete(last)
	state, err := a.Save()
	if err != nil {
		t.Fatal(err)
	}
	b := newGuild(t, 1, vast.Options{})
	if err := b.Load(state); err != nil {
		t.Fatal(err)
	}
	if _, ok := b.Find(second); !ok {
		t.Errorf("the loaded region does not find the ID %v", second)
	}
	b.checkFind(t, third, vast.Entity{})
	if err := b.Compare(state); err != nil {
		t.Error(err)
	}
	fourth, id := b.member()
	if want := idOf(1, third.number()+1); id != want {
		t.Errorf("the loaded region gives the ID %v, want %v", id, want)
	}
	b.w.Delete(fourth)
	if err := b.Compare(state); err == nil || !strings.Contains(err.Error(), "Given") {
		t.Errorf("after the loaded region has given another ID, Compare returns %v", err)
	}

	// A program with IDs loads the state that a program without IDs has saved.
	w := vast.NewWorld(vast.Options{Mark: 2, MaxEntities: 1 << 16})
	old, err := NewWorld(WorldOptions{World: w, Travel: vast.NewSparseColumn[Travel](w), Region: 1,
		Regions: guildRegions, Tick: func(uint64, [][]byte) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	w.Archetype(vast.NewColumn[uint64](w)).New()
	if state, err = old.Save(); err != nil {
		t.Fatal(err)
	}
	c := newGuild(t, 1, vast.Options{})
	if err := c.Load(state); err != nil {
		t.Fatal(err)
	}
	if got := c.Remote(firstOf(c.w.Query(c.numbers))); got.ID != idOf(1, 1) {
		t.Errorf("the first Remote has the ID %v, want %v", got.ID, idOf(1, 1))
	}
	says(t, func() { old.Find(1) }, "set WorldOptions.Identity")
	says(t, func() { old.Remote(vast.Entity{}) }, "set WorldOptions.Identity")
	if err := old.Close(); err != nil {
		t.Error(err)
	}
}

// forge makes a section from region 2 with one entity for each ID.
func forge(t *testing.T, ids ...ID) []byte {
	g := newGuild(t, 2, vast.Options{})
	g.w.Archetype(g.numbers).New() // so that entities have other slots here than in the receiver
	var es []vast.Entity
	for _, id := range ids {
		e, _ := g.member()
		*g.ids.Get(e) = id
		es = append(es, e)
	}
	section, err := g.packer.Take(appendMessages(nil, nil), es)
	if err != nil {
		t.Fatal(err)
	}
	return section
}

// TestForgedIDs: a section with a wrong ID is refused, and the world is unchanged.
func TestForgedIDs(t *testing.T) {
	g := newGuild(t, 1, vast.Options{})
	e, mine := g.member()
	elsewhere := idOf(0, 9)
	g.step(t, nil, nil, forge(t, elsewhere))
	guest, _ := g.Find(elsewhere)
	for want, ids := range map[string][]ID{
		"has the ID 1/1, which entity 0.1 has":                {mine},
		"has the ID 0/9, which entity":                        {idOf(0, 10), elsewhere},
		"has the ID 2/7, which entity":                        {idOf(2, 7), idOf(2, 7)},
		"has the ID 1/2, and region 1 has given 1 IDs so far": {idOf(1, 2)},
		"has the ID 3/1, which none of 3 regions gives":       {idOf(3, 1)},
		"has the ID 65535/0, which none of 3 regions gives":   {idOf(65535, 0)},
	} {
		section := forge(t, ids...)
		_, _, err := g.Tick(g.tick+1, [][]byte{nil, nil, section}, nil)
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "entities from region 2") {
			t.Errorf("the error is %v, want %q", err, want)
		}
		if g.w.Len() != 2 {
			t.Errorf("the world has %d entities, want 2", g.w.Len())
		}
		g.checkFind(t, mine, e)
		g.checkFind(t, elsewhere, guest)
		g.checkFind(t, idOf(0, 10), vast.Entity{})
		g.checkFind(t, idOf(2, 7), vast.Entity{})
	}
	g.step(t)
	g.World.ids.checkInvariants()
	if n := g.ids.Len(); n != 2 {
		t.Errorf("%d entities have IDs, want 2", n)
	}
}

// TestForgedStates: a state with wrong IDs is refused.
func TestForgedStates(t *testing.T) {
	for want, forge := range map[string]func(g *guild, e vast.Entity){
		"1/1, which entity":              func(g *guild, e vast.Entity) { *g.ids.Get(e) = idOf(1, 1) },
		"1/3, and region 1 has given 2 ": func(g *guild, e vast.Entity) { *g.ids.Get(e) = idOf(1, 3) },
		"none of 3 regions gives":        func(g *guild, e vast.Entity) { *g.ids.Get(e) = 0 },
		"given 281474976710656 IDs":      func(g *guild, _ vast.Entity) { g.World.ids.given.Given = 1 << 48 },
		"1/2, and region 1 has given 1 ": func(g *guild, _ vast.Entity) { g.World.ids.given.Given = 1 },
	} {
		g := newGuild(t, 1, vast.Options{})
		g.member()
		e, _ := g.member()
		forge(g, e)
		state, err := g.Save()
		if err != nil {
			t.Fatal(err)
		}
		err = newGuild(t, 1, vast.Options{}).Load(state)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// TestIdentityMisuse: wrong use of IDs panics, and the message says what to do instead.
func TestIdentityMisuse(t *testing.T) {
	g := newGuild(t, 1, vast.Options{})
	e, id := g.member()
	other := g.w.Archetype(g.numbers).New()
	says(t, func() { g.ids.Add(other, id) }, "which entity 0.1 has: add the component with the ID 0")
	g.checkFind(t, id, e)
	g.ids.Remove(other)
	says(t, func() { g.ids.Add(other, idOf(1, 2)) }, "region 1 has given 1 IDs so far: add the component")
	g.ids.Remove(other)
	says(t, func() { g.ids.AddAll(g.w.Query().Among([]vast.Entity{other}), idOf(7, 2)) }, "none of 3 regions")
	g.ids.Remove(other)

	g.ids.Set(e, idOf(1, 5))
	g.checkFind(t, idOf(1, 5), vast.Entity{})
	g.checkFind(t, id, vast.Entity{})
	says(t, func() { g.Remote(e) }, "do not write into the column WorldOptions.Identity")
	says(t, g.World.ids.checkInvariants, "do not write into the column WorldOptions.Identity")
	g.ids.Set(e, id)

	_, err := NewWorld(WorldOptions{World: g.w, Travel: g.travel, Identity: g.ids, Regions: 65537,
		Tick: func(uint64, [][]byte) error { return nil }})
	if err == nil || !strings.Contains(err.Error(), "65536 regions or fewer") {
		t.Errorf("the error is %v", err)
	}
	_, err = NewWorld(WorldOptions{World: g.w, Regions: 3, Tick: func(uint64, [][]byte) error { return nil }})
	if err == nil || !strings.Contains(err.Error(), "needs World, Travel, Tick") {
		t.Errorf("without Travel the error is %v", err)
	}
}

// TestExhaustedIDs: a region that has given all of its IDs gives no further ID.
func TestExhaustedIDs(t *testing.T) {
	g := newGuild(t, 1, vast.Options{})
	g.World.ids.given.Given = maxNumbers - 1
	_, id := g.member()
	if id != idOf(1, maxNumbers) {
		t.Errorf("the last ID is %v, want %v", id, idOf(1, maxNumbers))
	}
	e := g.w.Archetype(g.numbers).New()
	v := panicOf(func() { g.Remote(e) })
	if err, ok := v.(*vm.Error); !ok || !errors.Is(err, vm.ErrCapacity) ||
		!strings.Contains(err.Error(), "region 1 has given all of its 281474976710655 IDs") {
		t.Errorf("the panic is %v", v)
	}
	if g.ids.Has(e) {
		t.Error("Remote has panicked, and the entity has an ID")
	}
	if err, ok := panicOf(func() { g.ids.Add(e, 0) }).(*vm.Error); !ok || !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("the panic is %v", err)
	}
}

// TestIDsWithoutMemory: if the index gets no memory, the world is unchanged.
func TestIDsWithoutMemory(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	g := newGuild(t, 1, vast.Options{Limit: limit})
	e := g.w.Archetype(g.numbers).New()
	if err := g.w.Archetype(g.numbers, g.ids).Grow(100); err != nil {
		t.Fatal(err)
	}
	section := forge(t, idOf(0, 5), idOf(2, 8))
	limit.SetMax(limit.Used())
	v := panicOf(func() { g.Remote(e) })
	if err, ok := v.(*vm.Error); !ok || !errors.Is(err, vm.ErrLimit) {
		t.Errorf("the panic is %v", v)
	}
	if g.ids.Has(e) {
		t.Error("Remote has panicked, and the entity has an ID")
	}
	_, _, err := g.Tick(1, [][]byte{nil, section}, nil)
	if !errors.Is(err, vm.ErrLimit) || !strings.Contains(err.Error(), "entities from region 1") {
		t.Errorf("the error is %v", err)
	}
	if g.w.Len() != 1 || g.ids.Len() != 0 {
		t.Errorf("the world has %d entities, %d of them with an ID, want 1 and 0", g.w.Len(), g.ids.Len())
	}
	limit.SetMax(1 << 30)
	if got := g.Remote(e).ID; got != idOf(1, 1) {
		t.Errorf("the first ID is %v, want %v", got, idOf(1, 1))
	}
	g.step(t, nil, section)
	if _, ok := g.Find(idOf(2, 8)); !ok || g.w.Len() != 3 {
		t.Errorf("the world has %d entities, want 3, one of them with the ID 2/8", g.w.Len())
	}
}
