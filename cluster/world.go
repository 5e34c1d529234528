package cluster

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/store"
)

// Travel is a component that sends its entity to another region.
type Travel struct {
	To uint32 // the number of the region
}

// WorldOptions say what a [World] consists of. World, Travel, Regions and Tick are required.
type WorldOptions struct {
	// World has all of its columns and no entities. Give the world of each region a different
	// vast.Options.Mark, such as 1 + region%255. Then an Entity from a region with another mark is stale in
	// this world.
	World *vast.World
	// Travel is the column with the destinations of entities. To send an entity away, give it the component
	// with Add or AddLater.
	Travel vast.SparseColumn[Travel]
	// Region is the number of this region, from 0. Regions is the number of regions.
	Region, Regions int
	// Begin fills the world before its first tick. Default: the world begins empty.
	Begin func() error
	// Loaded is called after the world was loaded from a checkpoint. Default: nothing is called.
	Loaded func() error
	// Tick runs a tick of the program, for example of a schedule. inputs are the inputs from [Node.Send].
	Tick func(tick uint64, inputs [][]byte) error
	// Arrived is called before a tick, once for each region from which entities arrive, in the order of the
	// regions. entities has the topmost travellers of each hierarchy, in the order of their slots in the
	// region that they left. The entities below them have arrived, too. Default: nothing is called.
	Arrived func(from int, entities []vast.Entity) error
	// Received is called before a tick, once for each region whose messages of [World.Send] arrive, in the
	// order of the regions. The messages are in the order in which they were sent. All entities that arrive
	// before this tick are in the world. Received must neither change the messages nor keep them. Default: a
	// message stops the region with an error.
	Received func(from int, messages [][]byte) error
	// Identity is the column with the IDs of entities, for [World.Remote] and [World.Find]. An entity gets a
	// new ID when it gains the component with the value 0, or is born with this value. An entity that loses
	// the component loses its ID forever. The program must not write into the column. Entities without an ID
	// cost nothing. An entity with an ID takes 8 bytes in the column and 16 to 32 bytes in an index. NewWorld
	// adds a callback with [vast.World.OnMove]. Default: there are no IDs.
	Identity vast.Column[ID]
	// HashEvery is the number of ticks from one hash of the state to the next. A hash takes as long as a
	// checkpoint. With hashes, followers and processes that run a tick again detect a different state.
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
// later. If an entity above it also has the component, both travel to the destination of the upper entity.
//
// A component of an entity that travels must not hold the [vast.Entity] of an entity that stays. Otherwise
// Tick returns an error that names both entities. A [Remote] may refer to an entity of any region, and
// [World.Send] sends messages to other regions.
type World struct {
	o        WorldOptions
	packer   *store.Packer
	ids      *register // nil if WorldOptions.Identity is not set
	begun    bool
	leaving  []vast.Entity
	sending  bool         // whether Send may be called
	messages [][]byte     // the encoded messages that Send has sent in this tick, by region
	sections []section    // the sections that have arrived, by region
	saved    bytes.Buffer // result of the last Save
}

var _ Machine = (*World)(nil)

// NewWorld returns the machine of a region. [World.Close] also closes WorldOptions.World.
func NewWorld(o WorldOptions) (*World, error) {
	if o.World == nil || o.Travel == (vast.SparseColumn[Travel]{}) || o.Tick == nil || o.Region < 0 ||
		o.Region >= o.Regions {
		return nil, fmt.Errorf("cluster: NewWorld: WorldOptions needs World, Travel, Tick, and a Region "+
			"from 0 to Regions-1: Region is %d, and Regions is %d", o.Region, o.Regions)
	}
	w := &World{o: o, messages: make([][]byte, o.Regions)}
	var err error
	if w.packer, err = store.NewPacker(o.World, o.Store); err != nil {
		return nil, err
	}
	if o.Identity == (vast.Column[ID]{}) {
		return w, nil
	}
	if w.ids, err = newRegister(o); err != nil {
		return nil, err
	}
	w.o.Store.Resources = append(slices.Clip(o.Store.Resources), reflect.TypeFor[identities]())
	return w, nil
}

// Schema describes the components of the world, for Options.Schema.
func (w *World) Schema() string { return w.packer.Schema() }

// begin calls WorldOptions.Begin, if neither begin nor Load was called before.
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
	if err := w.run(tick, received, inputs); err != nil {
		return nil, Hash{}, err
	}
	sections, err := w.send()
	if w.ids != nil {
		w.ids.forget()
		if invariants.Enabled {
			w.ids.checkInvariants()
		}
	}
	if err != nil || w.o.HashEvery == 0 || tick%w.o.HashEvery != 0 {
		return sections, Hash{}, err
	}
	h := sha256.New()
	err = store.Save(w.o.World, h, w.o.Store)
	return sections, Hash(h.Sum(nil)), err
}

func (w *World) run(tick uint64, received, inputs [][]byte) error {
	for to := range w.messages {
		w.messages[to] = w.messages[to][:0]
	}
	w.sending = true
	defer func() { w.sending = false }()
	if err := w.receive(received); err != nil {
		return err
	}
	return w.o.Tick(tick, inputs)
}

// receive makes the entities that have arrived, and then passes the messages to the program.
func (w *World) receive(received [][]byte) error {
	w.sections = w.sections[:0]
	for from, b := range received {
		s, err := splitSection(b)
		if err != nil {
			return fmt.Errorf("the section from region %d: %w", from, err)
		}
		w.sections = append(w.sections, s)
	}
	for from, s := range w.sections {
		if err := w.arrive(from, s.parcel); err != nil {
			return fmt.Errorf("entities from region %d: %w", from, err)
		}
	}
	for from, s := range w.sections {
		if err := w.handOut(from, s.messages); err != nil {
			return fmt.Errorf("messages from region %d: %w", from, err)
		}
	}
	return nil
}

func (w *World) arrive(from int, parcel []byte) error {
	if len(parcel) == 0 {
		return nil
	}
	entities, err := w.unpack(parcel)
	if err != nil || w.o.Arrived == nil {
		return err
	}
	return w.o.Arrived(from, entities)
}

// unpack makes the entities of a parcel. If the register refuses the ID of an entity, unpack returns an
// error, and the world is unchanged.
func (w *World) unpack(parcel []byte) (entities []vast.Entity, err error) {
	if r := w.ids; r != nil {
		r.arriving, r.refused = true, nil
		defer func() {
			r.arriving = false
			if r.refused != nil { // register.gained has panicked, and Unpack has deleted the entities
				_ = recover()
				entities, err = nil, r.refused
			}
		}()
	}
	return w.packer.Unpack(parcel)
}

// send returns the sections of the tick, by region. It deletes the entities that travel.
func (w *World) send() ([][]byte, error) {
	sections := make([][]byte, w.o.Regions)
	travellers, err := w.travellers()
	if err != nil {
		return nil, err
	}
	for to := range sections {
		var entities []vast.Entity
		if travellers != nil {
			entities = travellers[to]
		}
		if len(w.messages[to])+len(entities) == 0 {
			continue
		}
		sections[to] = appendMessages(nil, w.messages[to])
		if len(entities) == 0 {
			continue
		}
		if sections[to], err = w.packer.Take(sections[to], entities); err != nil {
			return nil, fmt.Errorf("entities for region %d: %w", to, err)
		}
	}
	return sections, nil
}

// travellers returns the topmost travellers of each hierarchy, by destination, or nil if there are none. It
// removes the component Travel from all entities.
func (w *World) travellers() ([][]vast.Entity, error) {
	w.leaving = w.leaving[:0]
	for e := range probe.All(w.o.World.Query(w.o.Travel)).All() {
		w.leaving = append(w.leaving, e)
	}
	if len(w.leaving) == 0 {
		return nil, nil
	}
	byRegion := make([][]vast.Entity, w.o.Regions)
	for _, e := range w.packer.Roots(w.leaving) {
		to := w.o.Travel.Get(e).To
		if int64(to) >= int64(w.o.Regions) {
			return nil, fmt.Errorf("entity %v travels to region %d, which does not exist: there are %d "+
				"regions", e, to, w.o.Regions)
		}
		byRegion[to] = append(byRegion[to], e)
	}
	for _, e := range w.leaving {
		w.o.Travel.Remove(e)
	}
	return byRegion, nil
}

// Save implements [Machine].
func (w *World) Save() ([]byte, error) {
	if err := w.begin(); err != nil {
		return nil, err
	}
	w.saved.Reset()
	if w.saved.Cap() == 0 { // the state is at most about as large as the world's memory
		w.saved.Grow(w.o.World.Stats().Committed)
	}
	err := store.Save(w.o.World, &w.saved, w.o.Store)
	return w.saved.Bytes(), err
}

// Load implements [Machine].
func (w *World) Load(state []byte) error {
	w.begun = true
	_, err := store.Load(w.o.World, bytes.NewReader(state), w.o.Store)
	if err == nil && w.ids != nil {
		err = w.ids.loaded()
	}
	if err != nil || w.o.Loaded == nil {
		return err
	}
	return w.o.Loaded()
}

// Upgraded makes the world accept entities that a program with another schema has packed: see [Machine].
func (w *World) Upgraded(schema string) error {
	_, err := w.packer.Accept(schema)
	return err
}

// Compare compares the world with a state that Save has returned. The error names the first column, entity
// and field that differ.
func (w *World) Compare(state []byte) error {
	return store.Compare(w.o.World, bytes.NewReader(state), w.o.Store)
}

// Status returns the status of the region for [Node.Regions].
func (w *World) Status() []byte {
	if w.o.Status != nil {
		return w.o.Status()
	}
	return fmt.Appendf(nil, `{"entities":%d}`, w.o.World.Len())
}

// Close implements [Machine].
func (w *World) Close() error {
	err := w.o.World.Close()
	if w.ids != nil {
		err = errors.Join(err, w.ids.index.Close())
	}
	return err
}
