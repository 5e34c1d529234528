package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/store"
)

// navy is a region with ships that sail to other regions and fire at ships in other regions. Each ship has a
// gunner aboard. Ships and gunners have IDs. They also have unique numbers, by which the ledger identifies
// them.
type navy struct {
	*World
	region  int
	w       *vast.World
	ships   vast.Column[warship]
	gunners vast.Column[uint64]
	aboard  vast.Relation
	ids     vast.Column[ID]
	travel  vast.SparseColumn[Travel]
	yard    *yard
	ledger  *ledger
	now     uint64 // current tick
	away    []ID   // IDs of the entities that leave in this tick
}

type warship struct {
	Number, Hits uint64
	Aim          Remote // target of this ship
}

// yard is a resource of the world, with the state that is not in entities.
type yard struct {
	Built   uint64
	Landed  uint64        // number of shots that hit
	Relayed uint64        // number of shots that follow a ship to another region
	Wrong   uint64        // number of shots without a target
	Gone    map[ID]uint32 // regions to which ships have travelled
}

const navyRegions, navyLookahead = 4, 2

func newNavy(region int, l *ledger) (*navy, error) {
	n := &navy{region: region, ledger: l,
		w: vast.NewWorld(vast.Options{Name: fmt.Sprint("region ", region), Mark: uint8(1 + region)})}
	n.ships, n.gunners = vast.NewColumn[warship](n.w), vast.NewColumn[uint64](n.w).Named("gunner")
	n.ids, n.travel = vast.NewColumn[ID](n.w), vast.NewSparseColumn[Travel](n.w)
	n.aboard = vast.NewRelation(n.w, "aboard", vast.RelationOptions{OnDelete: vast.Cascade})
	n.yard = vast.SetResource(n.w, yard{})
	var err error
	n.World, err = NewWorld(WorldOptions{World: n.w, Travel: n.travel, Identity: n.ids, Region: region,
		Regions: navyRegions, HashEvery: 5, Arrived: n.arrived, Received: n.received,
		Begin: func() error {
			for range 8 {
				n.build()
			}
			return nil
		},
		Tick: func(tick uint64, _ [][]byte) error {
			time.Sleep(time.Duration(l.slow.Load()))
			n.sail(tick)
			return nil
		},
		Store: store.Options{Resources: []reflect.Type{reflect.TypeFor[yard]()}}})
	return n, err
}

// build makes a ship, which is born with an ID, and a gunner, who gets an ID from Remote.
func (n *navy) build() {
	n.yard.Built++
	number := uint64(n.region)<<32 | n.yard.Built<<1
	ship := n.w.Archetype(n.ships, n.ids).New()
	n.ships.Set(ship, warship{Number: number})
	gunner := n.w.Archetype(n.gunners).New()
	n.gunners.Set(gunner, number|1)
	n.aboard.Set(gunner, ship)
	n.ledger.gave(n.now, *n.ids.Get(ship), number)
	n.ledger.gave(n.now, n.Remote(gunner).ID, number|1)
}

func (n *navy) arrived(_ int, entities []vast.Entity) error {
	for _, e := range entities {
		delete(n.yard.Gone, *n.ids.Get(e))
	}
	return nil
}

// The first byte of a message says what follows.
const (
	greeting = 'g' // Remote of a ship, which becomes the target of other ships
	shot     = 's' // ID of the target
)

func (n *navy) received(_ int, messages [][]byte) error {
	le := binary.LittleEndian
	for _, m := range messages {
		id := ID(le.Uint64(m[1:]))
		if m[0] == greeting {
			for e := range n.w.Query(n.ships).All() {
				if s := n.ships.Get(e); mix(s.Number, uint64(id))%3 == 0 {
					s.Aim = Remote{ID: id, Region: le.Uint32(m[9:])}
				}
			}
			continue
		}
		to, gone := n.yard.Gone[id]
		switch e, ok := n.Find(id); {
		case ok:
			n.ships.Get(e).Hits++
			n.yard.Landed++
		case gone:
			n.yard.Relayed++
			n.Send(int(to), m)
		default:
			n.yard.Wrong++
		}
	}
	return nil
}

// sail moves, builds and sinks ships. It also makes ships fire, and send greetings.
func (n *navy) sail(tick uint64) {
	le := binary.LittleEndian
	var leave, sink []vast.Entity
	built := 0
	for e := range n.w.Query(n.ships).All() {
		s := n.ships.Get(e)
		switch luck := mix(s.Number, s.Hits, tick); luck % 32 {
		case 0, 1, 2:
			leave = append(leave, e)
		case 3:
			sink = append(sink, e)
		case 4, 5:
			built++
		case 6, 7, 8, 9, 10, 11, 12, 13, 14, 15:
			if !s.Aim.IsZero() {
				n.Send(int(s.Aim.Region), le.AppendUint64([]byte{shot}, uint64(s.Aim.ID)))
			}
		case 16, 17, 18:
			r := n.Remote(e)
			b := le.AppendUint64([]byte{greeting}, uint64(r.ID))
			n.Send(int(luck/32%navyRegions), le.AppendUint32(b, r.Region))
		}
	}
	for _, e := range sink {
		n.ledger.drop(tick, *n.ids.Get(e))
		for gunner := range n.aboard.Sources(e) {
			n.ledger.drop(tick, *n.ids.Get(gunner))
		}
		n.w.Delete(e)
	}
	n.away = n.away[:0]
	for _, e := range leave {
		to, id := uint32(mix(n.ships.Get(e).Number, tick)%navyRegions), *n.ids.Get(e)
		n.travel.Add(e, Travel{To: to})
		if n.yard.Gone == nil {
			n.yard.Gone = make(map[ID]uint32)
		}
		n.yard.Gone[id] = to
		n.away = append(n.away, id)
		for gunner := range n.aboard.Sources(e) {
			n.away = append(n.away, *n.ids.Get(gunner))
		}
	}
	n.now = tick
	for range min(built, 20-n.ships.Len()) {
		n.build()
	}
}

func (n *navy) Tick(tick uint64, received, inputs [][]byte) ([][]byte, Hash, error) {
	sections, hash, err := n.World.Tick(tick, received, inputs)
	if err != nil {
		return nil, Hash{}, err
	}
	n.World.ids.checkInvariants()
	var here []ID
	for e := range n.w.Query(n.ids).All() {
		here = append(here, *n.ids.Get(e))
	}
	for _, id := range n.away {
		if _, ok := n.Find(id); ok {
			return nil, Hash{}, fmt.Errorf("the entity with the ID %v has left, and Find finds it", id)
		}
	}
	state, err := n.Save()
	if err != nil {
		return nil, Hash{}, err
	}
	n.ledger.note(tick, n.region, moment{here, slices.Clone(n.away), sha256.Sum256(state), *n.yard})
	return sections, hash, n.ledger.err()
}

// ledger records what the regions of a test have done, in all processes.
type ledger struct {
	slow atomic.Int64 // delay of each tick, in nanoseconds

	mu       sync.Mutex
	numbers  map[ID]uint64        // number of the entity with an ID
	ids      map[uint64]ID        // ID of the entity with a number
	born     map[ID]uint64        // tick in which the ID was given
	died     map[ID]uint64        // tick in which the entity was deleted
	moments  map[[2]uint64]moment // by tick and region
	repeated map[ID]bool          // a repeated tick has given the ID again
	odd      error                // the last contradiction that was found
}

type moment struct {
	here  []ID // IDs of the entities in the region
	away  []ID // IDs of the entities that leave
	state [sha256.Size]byte
	yard  yard
}

func newLedger() *ledger {
	return &ledger{numbers: make(map[ID]uint64), ids: make(map[uint64]ID), born: make(map[ID]uint64),
		died: make(map[ID]uint64), moments: make(map[[2]uint64]moment), repeated: make(map[ID]bool)}
}

func (l *ledger) gave(tick uint64, id ID, number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	had, again := l.numbers[id]
	before, other := l.ids[number]
	if again && had != number || other && before != id {
		l.odd = fmt.Errorf("in tick %d, entity %x gets the ID %v; before, entity %x had this ID, and entity "+
			"%x had the ID %v", tick, number, id, had, number, before)
	}
	l.repeated[id] = again
	l.numbers[id], l.ids[number], l.born[id] = number, id, tick
}

func (l *ledger) drop(tick uint64, id ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.died[id] = tick
}

// note records a tick, and compares its state with an earlier run of the tick.
func (l *ledger) note(tick uint64, region int, m moment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.yard.Gone = nil
	at := [2]uint64{tick, uint64(region)}
	if before, ok := l.moments[at]; ok && before.state != m.state {
		l.odd = fmt.Errorf("two runs of tick %d of region %d have different states", tick, region)
	}
	l.moments[at] = m
}

func (l *ledger) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.odd
}

// check checks all ticks. After a tick, the ID of each living entity must be exactly once in a region or on
// its way to a region.
func (l *ledger) check(t *testing.T, ticks uint64) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.odd != nil {
		t.Error(l.odd)
	}
	var landed, relayed, wrong uint64
	for tick := uint64(1); tick <= ticks; tick++ {
		count := make(map[ID]int)
		landed, relayed, wrong = 0, 0, 0
		for region := range uint64(navyRegions) {
			m, ok := l.moments[[2]uint64{tick, region}]
			if !ok {
				t.Fatalf("region %d has not run tick %d", region, tick)
			}
			for _, id := range m.here {
				count[id]++
			}
			for sent := tick - min(tick, navyLookahead) + 1; sent <= tick; sent++ {
				for _, id := range l.moments[[2]uint64{sent, region}].away {
					count[id]++
				}
			}
			landed, relayed, wrong = landed+m.yard.Landed, relayed+m.yard.Relayed, wrong+m.yard.Wrong
		}
		for id, born := range l.born {
			died, dead := l.died[id]
			want := 0
			if born <= tick && (!dead || died > tick) {
				want = 1
			}
			if count[id] != want {
				t.Fatalf("tick %d: the ID %v is %d times in the world, want %d", tick, id, count[id], want)
			}
			delete(count, id)
		}
		if len(count) > 0 {
			t.Fatalf("tick %d: there are IDs that no region has given: %v", tick, count)
		}
	}
	t.Logf("%d IDs were given, and %d dropped; %d shots hit, %d were relayed, and %d found no target",
		len(l.born), len(l.died), landed, relayed, wrong)
	if len(l.died) < 50 || landed < 50 || relayed < 20 || wrong == 0 {
		t.Error("too little has happened for a test")
	}
}

// TestIdentitiesInCluster compares a calm run with a run in which a process dies and regions move. The two
// runs must have the same states.
func TestIdentitiesInCluster(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	const ticks = 300
	first, err := newNavy(0, newLedger())
	if err != nil {
		t.Fatal(err)
	}
	schema := first.Schema()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	options := func(l *ledger, url string) Options {
		o := newWorld(navyRegions, ticks).options(t, url)
		o.Schema, o.Lookahead = schema, navyLookahead
		o.New = func(region int) (Machine, error) { return newNavy(region, l) }
		return o
	}
	calm := newLedger()
	a := join(t, options(calm, ""))
	wait(t, a)
	closeAll(t, a)
	calm.check(t, ticks)

	rough := newLedger()
	rough.slow.Store(int64(8 * time.Millisecond))
	o := options(rough, "")
	o.Listen = "127.0.0.1:0"
	o.Every = 1000 // few checkpoints, so that takeovers run ticks again
	b := join(t, o)
	o = options(rough, b.URL())
	o.Every = 1000
	c := join(t, o)
	until(t, "both processes have regions, and some ticks have run", func() bool {
		return least(b) > 30 && loads(b, c)[1] > 0
	})
	if err := c.kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "the remaining process has all regions", func() bool { return loads(b)[0] == navyRegions })
	last := least(b)
	d := join(t, options(rough, b.URL()))
	until(t, "another process has regions, which run", func() bool {
		return least(b) > last+10 && loads(b, d)[1] > 0
	})
	closeAll(t, d) // its regions move to b
	rough.slow.Store(0)
	wait(t, b)
	closeAll(t, b)
	rough.check(t, ticks)

	again := 0
	for id, repeated := range rough.repeated {
		if repeated && rough.born[id] > 0 {
			again++
		}
	}
	if again == 0 {
		t.Error("no ID was given in a tick that was run again")
	}
	t.Logf("%d IDs were given in ticks that were run again", again)
	for at, m := range calm.moments {
		if rough.moments[at].state != m.state {
			t.Fatalf("after tick %d, the states of region %d in the two runs differ", at[0], at[1])
		}
	}
}
