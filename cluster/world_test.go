package cluster

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

// fleet is the machine of a region with ships and their crews. A crew sails with its ship.
type fleet struct {
	*World
	region int
	w      *vast.World
	ships  vast.Column[ship]
	crew   vast.Column[sailor]
	aboard vast.Relation
	travel vast.SparseColumn[Travel]
	log    vast.HeapColumn[string]
	result *fleets                     // gets the final hash and number of entities, if not nil
	until  uint64                      // the last tick
	broken func(f *fleet, tick uint64) // called in each tick, if not nil
}

type ship struct{ Number, Speed uint64 }

type sailor struct {
	Number uint64
	Ship   vast.Entity
}

// fleets has the hash of the state and the number of entities of each region after its last tick.
type fleets struct {
	mu     sync.Mutex
	hashes map[int][sha256.Size]byte
	counts map[int]int
}

const fleetRegions = 3

func (l *fleets) machine(until uint64, slow time.Duration) func(region int) (Machine, error) {
	return func(region int) (Machine, error) { return newFleet(region, until, slow, l) }
}

func newFleet(region int, until uint64, slow time.Duration, result *fleets) (*fleet, error) {
	f := &fleet{region: region, result: result, until: until,
		w: vast.NewWorld(vast.Options{Name: fmt.Sprint("region ", region), Mark: uint8(1 + region)})}
	f.ships, f.crew = vast.NewColumn[ship](f.w), vast.NewColumn[sailor](f.w)
	f.travel, f.log = vast.NewSparseColumn[Travel](f.w), vast.NewHeapColumn[string](f.w)
	f.aboard = vast.NewRelation(f.w, "aboard", vast.RelationOptions{})
	var err error
	f.World, err = NewWorld(WorldOptions{World: f.w, Travel: f.travel, Region: region, Regions: fleetRegions,
		HashEvery: 5, Begin: f.begin, Arrived: f.arrived, Tick: func(tick uint64, _ [][]byte) error {
			time.Sleep(slow)
			return f.sail(tick)
		}})
	return f, err
}

func (f *fleet) begin() error {
	for i := range uint64(20) {
		s := f.w.Archetype(f.ships).New()
		f.ships.Set(s, ship{Number: uint64(f.region)<<32 | i, Speed: 1 + i})
		f.log.Set(s, "built")
		for k := range i % 4 {
			who := f.w.Archetype(f.crew).New()
			f.crew.Set(who, sailor{Number: i<<8 | k, Ship: s})
			f.aboard.Set(who, s)
		}
	}
	return nil
}

func (f *fleet) arrived(from int, entities []vast.Entity) error {
	for _, s := range entities {
		f.log.Set(s, fmt.Sprintf("%d→%d", from, f.region))
		for who := range f.aboard.Sources(s) {
			if f.crew.Get(who).Ship != s {
				return fmt.Errorf("%v is aboard %v, and its component sailor names %v", who, s,
					f.crew.Get(who).Ship)
			}
		}
	}
	return nil
}

func (f *fleet) sail(tick uint64) error {
	var leave []vast.Entity
	for e := range f.w.Query(f.ships).All() {
		if s := f.ships.Get(e); mix(s.Number, s.Speed, tick)%7 == 0 {
			s.Speed++
			leave = append(leave, e)
		}
	}
	for _, e := range leave {
		s := f.ships.Get(e)
		f.travel.Add(e, Travel{To: uint32(mix(s.Number, tick) % fleetRegions)})
		for who := range f.aboard.Sources(e) { // the ship's destination must win over that of the sailor
			f.travel.Add(who, Travel{To: uint32(f.region)})
			break
		}
	}
	if f.broken != nil {
		f.broken(f, tick)
	}
	return nil
}

func (f *fleet) Tick(tick uint64, received, inputs [][]byte) ([][]byte, Hash, error) {
	sections, hash, err := f.World.Tick(tick, received, inputs)
	if err == nil && tick == f.until && f.result != nil {
		state, err := f.Save()
		if err != nil {
			return nil, Hash{}, err
		}
		f.result.mu.Lock()
		defer f.result.mu.Unlock()
		f.result.hashes[f.region], f.result.counts[f.region] = sha256.Sum256(state), f.w.Len()
	}
	return sections, hash, err
}

func newFleets() *fleets {
	return &fleets{hashes: make(map[int][sha256.Size]byte), counts: make(map[int]int)}
}

// TestWorldsTravel: the regions end in the same states with and without the death of a process.
func TestWorldsTravel(t *testing.T) {
	t.Parallel()
	const ticks = 200
	first, err := newFleet(0, 0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	schema := first.Schema()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	options := func(l *fleets, url string, slow time.Duration) Options {
		o := newWorld(fleetRegions, ticks).options(t, url)
		o.New, o.Schema = l.machine(ticks, slow), schema
		return o
	}
	calm := newFleets()
	a := join(t, options(calm, "", 0))
	wait(t, a)
	closeAll(t, a)

	rough := newFleets()
	o := options(rough, "", 4*time.Millisecond)
	o.Listen = "127.0.0.1:0"
	b := join(t, o)
	c := join(t, options(rough, b.URL(), 4*time.Millisecond))
	until(t, "some ticks have run, and both processes have regions", func() bool {
		return least(b) > 40 && loads(b, c)[1] > 0
	})
	if err := c.kill(); err != nil {
		t.Fatal(err)
	}
	wait(t, b)
	closeAll(t, b)

	total := 0
	for region := range fleetRegions {
		total += calm.counts[region]
		if calm.hashes[region] != rough.hashes[region] {
			t.Errorf("region %d ends in another state after a process has died", region)
		}
	}
	if all := 3 * (20 + 5*(1+2+3)); total < all/2 || total > all {
		t.Errorf("%d ships and sailors are in the worlds, want %d to %d", total, all/2, all)
	}
}

// TestWorldByHand passes sections to worlds without a cluster, and counts all entities after each tick.
func TestWorldByHand(t *testing.T) {
	var f [fleetRegions]*fleet
	for region := range f {
		var err error
		if f[region], err = newFleet(region, 0, 0, nil); err != nil {
			t.Fatal(err)
		}
		defer f[region].Close()
	}
	const lookahead = 3
	var sent [][fleetRegions][][]byte // by tick
	crossed := 0
	for tick := uint64(1); tick <= 60; tick++ {
		var now [fleetRegions][][]byte
		for region := range f {
			var received [][]byte
			if tick > lookahead {
				for from := range f {
					received = append(received, sent[tick-lookahead-1][from][region])
				}
			}
			sections, _, err := f[region].Tick(tick, received, nil)
			if err != nil {
				t.Fatal(err)
			}
			now[region] = sections
		}
		sent = append(sent, now)
		count := 0
		for _, one := range f {
			count += one.w.Len()
			if n := one.travel.Len(); n != 0 {
				t.Errorf("%d entities still have the component Travel", n)
			}
		}
		for _, sections := range sent[max(0, len(sent)-lookahead):] {
			for from := range sections {
				for to, section := range sections[from] {
					count += travellersIn(t, section)
					crossed += len(section) * (from - to) * (from - to)
				}
			}
		}
		if want := 3 * (20 + 5*(1+2+3)); count != want {
			t.Fatalf("after tick %d there are %d entities, want %d", tick, count, want)
		}
	}
	if crossed == 0 {
		t.Error("no entity has crossed a border")
	}
	state, err := f[1].Save()
	if err != nil {
		t.Fatal(err)
	}
	if err := f[1].Compare(state); err != nil {
		t.Error(err)
	}
	again, err := newFleet(1, 0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Load(state); err != nil {
		t.Fatal(err)
	}
	if b, err := again.Save(); err != nil || !bytes.Equal(b, state) {
		t.Errorf("a loaded world saves other bytes: %v", err)
	}
	if got := string(again.Status()); got != fmt.Sprintf(`{"entities":%d}`, again.w.Len()) {
		t.Errorf("the status is %s", got)
	}
	again.ships.Get(firstOf(again.w.Query(again.ships))).Speed++
	var d *store.Difference
	if err := again.Compare(state); !errors.As(err, &d) || d.Field != "Speed" {
		t.Errorf("Compare after a change of a Speed: got %v", err)
	}
}

func travellersIn(t *testing.T, section []byte) int {
	if len(section) == 0 {
		return 0
	}
	f, err := newFleet(0, 0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := splitSection(section)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.packer.Unpack(s.parcel); err != nil {
		t.Fatal(err)
	}
	return f.w.Len()
}

func firstOf(q vast.Query) vast.Entity {
	for e := range q.All() {
		return e
	}
	return vast.Entity{}
}

func TestWorldRefuses(t *testing.T) {
	for want, broken := range map[string]func(f *fleet, tick uint64){
		"to region 7, which does not exist": func(f *fleet, _ uint64) {
			f.travel.Add(firstOf(f.w.Query(f.ships)), Travel{To: 7})
		},
		"Ship": func(f *fleet, _ uint64) { // the sailor leaves, and the ship stays
			who := firstOf(f.w.Query(f.crew))
			f.aboard.Remove(who)
			f.travel.Remove(f.crew.Get(who).Ship)
			f.travel.Add(who, Travel{To: 1})
		},
	} {
		f, err := newFleet(0, 0, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.broken = broken
		if _, _, err := f.Tick(1, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		section := []byte("a section that no packer has made")
		if _, _, err := f.Tick(1, [][]byte{nil, section}, nil); err == nil ||
			!strings.Contains(err.Error(), "from region 1") {
			t.Errorf("a damaged section: got %v", err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := NewWorld(WorldOptions{Region: 3, Regions: 3}); err == nil {
		t.Error("NewWorld accepts options without a World")
	}
}
