package cluster

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

// Travel is a component that sends its entity to another region.
type Travel struct {
	To uint32 // the number of the region
}

// WorldOptions say what a [World] consists of. World, Travel, Regions and Tick are required.
type WorldOptions struct {
	// World has all of its columns and no entities. Give the world of each region another vast.Options.Mark,
	// such as 1 + region%255, so that an Entity of another region is stale here.
	World *vast.World
	// Travel is the column with the destinations of entities. Add and AddLater send an entity away.
	Travel vast.SparseColumn[Travel]
	// Region is the number of this region, and Regions how many there are.
	Region, Regions int
	// Begin fills the world before its first tick. Default: the world begins empty.
	Begin func() error
	// Loaded is called when the world was loaded from a checkpoint. Default: nothing is called.
	Loaded func() error
	// Tick runs a tick, such as that of a schedule. inputs are those of [Node.Send].
	Tick func(tick uint64, inputs [][]byte) error
	// Arrived is called before a tick for each region from which entities arrive: those that had the
	// component Travel, in the order of their slots there. What lay below them is in the world, too. Default:
	// nothing is called.
	Arrived func(from int, entities []vast.Entity) error
	// HashEvery is the number of ticks from one hash of the state to the next. A hash takes as long as a
	// checkpoint. By the hashes, followers and processes that run a tick again notice a different state.
	// Default: there are no hashes.
	HashEvery uint64
	// Status returns a short JSON value for [Node.Regions]. Default: the number of entities.
	Status func() []byte
	// Store says how the world is saved, and how entities are packed.
	Store store.Options
}

// World is the [Machine] of a region that is a vast.World. Entities travel to other regions with all of their
// components, and with the subtrees below them in hierarchies: see [store.Packer]. An entity that has the
// component [Travel] after a tick leaves the world, and arrives, without this component, lookahead ticks
// later. If an entity above it travels, too, it goes with that one.
//
// Nothing in a component may refer to an entity that stays: Tick then returns an error that names both.
type World struct {
	o       WorldOptions
	packer  *store.Packer
	begun   bool
	leaving []vast.Entity
	saved   int // bytes of the last checkpoint
}

var _ Machine = (*World)(nil)

// NewWorld returns the machine of a region. Close closes the world.
func NewWorld(o WorldOptions) (*World, error) {
	if o.World == nil || o.Tick == nil || o.Region < 0 || o.Region >= o.Regions {
		return nil, fmt.Errorf("cluster: NewWorld needs a World, a Tick, and a Region below %d: it got %d",
			o.Regions, o.Region)
	}
	p, err := store.NewPacker(o.World, o.Store)
	if err != nil {
		return nil, err
	}
	return &World{o: o, packer: p}, nil
}

// Schema describes the components of the world, for Options.Schema.
func (w *World) Schema() string { return w.packer.Schema() }

// begin fills the world, unless it was filled or loaded.
func (w *World) begin() error {
	if w.begun {
		return nil
	}
	w.begun = true
	if w.o.Begin == nil {
		return nil
	}
	return w.o.Begin()
}

// Tick implements [Machine].
func (w *World) Tick(tick uint64, received, inputs [][]byte) ([][]byte, Hash, error) {
	if err := w.begin(); err != nil {
		return nil, Hash{}, err
	}
	for from, section := range received {
		if err := w.receive(from, section); err != nil {
			return nil, Hash{}, fmt.Errorf("entities from region %d: %w", from, err)
		}
	}
	if err := w.o.Tick(tick, inputs); err != nil {
		return nil, Hash{}, err
	}
	sections, err := w.send()
	if err != nil || w.o.HashEvery == 0 || tick%w.o.HashEvery != 0 {
		return sections, Hash{}, err
	}
	state, err := w.Save()
	return sections, sha256.Sum256(state), err
}

func (w *World) receive(from int, section []byte) error {
	if len(section) == 0 {
		return nil
	}
	entities, err := w.packer.Unpack(section)
	if err != nil || w.o.Arrived == nil {
		return err
	}
	return w.o.Arrived(from, entities)
}

// send takes the entities that travel from the world, and returns them by region.
func (w *World) send() ([][]byte, error) {
	sections := make([][]byte, w.o.Regions)
	w.leaving = w.leaving[:0]
	for e := range w.o.World.Query(w.o.Travel).All() {
		w.leaving = append(w.leaving, e)
	}
	if len(w.leaving) == 0 {
		return sections, nil
	}
	byRegion := make([][]vast.Entity, w.o.Regions)
	for _, e := range w.packer.Roots(w.leaving) {
		to := w.o.Travel.Get(e).To
		if int64(to) >= int64(w.o.Regions) {
			return nil, fmt.Errorf("entity %v travels to region %d of %d", e, to, w.o.Regions)
		}
		byRegion[to] = append(byRegion[to], e)
	}
	for _, e := range w.leaving {
		w.o.Travel.Remove(e)
	}
	for to, entities := range byRegion {
		if len(entities) == 0 {
			continue
		}
		var err error
		if sections[to], err = w.packer.Take(nil, entities); err != nil {
			return nil, fmt.Errorf("entities for region %d: %w", to, err)
		}
	}
	return sections, nil
}

// Save implements [Machine].
func (w *World) Save() ([]byte, error) {
	if err := w.begin(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(w.saved + w.saved/8)
	err := store.Save(w.o.World, &b, w.o.Store)
	w.saved = b.Len()
	return b.Bytes(), err
}

// Load implements [Machine].
func (w *World) Load(state []byte) error {
	w.begun = true
	if _, err := store.Load(w.o.World, bytes.NewReader(state), w.o.Store); err != nil || w.o.Loaded == nil {
		return err
	}
	return w.o.Loaded()
}

// Upgraded has the world accept entities that a program with another schema has packed: see [Machine].
func (w *World) Upgraded(schema string) error {
	_, err := w.packer.Accept(schema)
	return err
}

// Compare compares the world with a state that Save has returned. The error names the first column, entity
// and field that differ.
func (w *World) Compare(state []byte) error {
	return store.Compare(w.o.World, bytes.NewReader(state), w.o.Store)
}

// Status returns what [Node.Regions] tells about the region.
func (w *World) Status() []byte {
	if w.o.Status != nil {
		return w.o.Status()
	}
	return fmt.Appendf(nil, `{"entities":%d}`, w.o.World.Len())
}

// Close implements [Machine].
func (w *World) Close() error { return w.o.World.Close() }
