package cluster

import (
	"errors"
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

// ID is the identity of an entity. The entity keeps its ID in all regions, and World gives this ID to no
// other entity of the cluster. The ID 0 belongs to no entity. [World.Remote] gives an entity its ID, and
// [World.Find] finds the entity by its ID.
//
// An ID consists of the number of the region that gave it, in 16 bits, and a number that the region gives
// once, in 48 bits. Therefore a cluster with IDs has at most 65,536 regions. A region gives at most 281
// trillion IDs, which is enough for a million IDs a second during 8 years.
type ID uint64

const (
	bitsNumber = 48
	maxNumbers = 1<<bitsNumber - 1
	maxOrigins = 1 << (64 - bitsNumber)
)

func idOf(region int, number uint64) ID { return ID(uint64(region)<<bitsNumber | number) }

// Origin returns the number of the region that gave the ID. The entity may be in another region.
func (id ID) Origin() int { return int(id >> bitsNumber) }

func (id ID) number() uint64 { return uint64(id) & maxNumbers }

// String returns the number of the region that gave the ID and the number that the region gave, such as 3/17.
func (id ID) String() string {
	if id == 0 {
		return "none"
	}
	return fmt.Sprintf("%d/%d", id.Origin(), id.number())
}

// Remote refers to an entity that may be in another region. Components and messages hold a Remote in place of
// a [vast.Entity], because an Entity is valid only in its own region. [World.Remote] makes a Remote. The zero
// Remote refers to nothing.
//
// Region is the number of the region where the entity was when the Remote was made. The entity may have
// travelled since then, or it may be deleted. A Remote has 16 bytes. It has no padding and no Go pointers.
// Compare the IDs to see whether two Remotes refer to the same entity.
type Remote struct {
	ID     ID
	Region uint32
	_      uint32 // so that a Remote has the same size on all processors
}

// IsZero reports whether r is the zero Remote.
func (r Remote) IsZero() bool { return r == Remote{} }

// Remote returns a Remote that refers to e, and gives e an ID if e has none. Giving an ID changes the
// structure of the world, as [vast.Column.Add] does. If e is stale, the result is the zero Remote.
//
// Complexity: constant. If e has an ID, several goroutines may call Remote and [World.Find] at the same time,
// while nothing changes the structure.
//
// Remote panics with a [*vm.Error] if the region has given all of its IDs or gets no memory. The world is
// then unchanged. Remote also panics if WorldOptions.Identity is not set, or if the program has written
// another ID into e's component.
func (w *World) Remote(e vast.Entity) Remote {
	r := w.mustIdentify("Remote")
	id := r.column.Get(e)
	if id == nil {
		if !r.world.Alive(e) {
			return Remote{}
		}
		if err := r.room(); err != nil {
			panic(err)
		}
		id = r.column.Add(e, 0)
	}
	if known, ok := r.find(*id); !ok || known != e {
		panic(fmt.Sprintf("cluster: World.Remote: entity %v has the ID %v, which World did not give it: "+
			"do not write into the column WorldOptions.Identity", e, *id))
	}
	return Remote{ID: *id, Region: uint32(w.o.Region)}
}

// Find returns the living entity of this region that has the ID. The result is false if the entity is
// deleted, travels, or is in another region. Find panics if WorldOptions.Identity is not set. Complexity:
// constant.
func (w *World) Find(id ID) (vast.Entity, bool) { return w.mustIdentify("Find").find(id) }

func (w *World) mustIdentify(method string) *register {
	if w.ids == nil {
		panic("cluster: World." + method + ": there are no IDs: make a vast.Column[cluster.ID], and set " +
			"WorldOptions.Identity to it")
	}
	return w.ids
}

// register gives IDs to the entities of a world, and finds entities by ID. Callbacks of the column and of the
// world update it when entities gain or lose the component, or move.
type register struct {
	world           *vast.World
	column          vast.Column[ID]
	region, regions int
	given           *identities
	// index has the entity of each ID. It may also have entities that have lost their IDs, so find checks the
	// column.
	index *bulk.HashIndex[ID, vast.Entity]
	// lost has the IDs that entities have lost since the last call of forget. If another callback panics
	// before the component is removed, an entity keeps its ID although lost has the ID.
	lost     []ID
	arriving bool  // entities of another region are being made
	refused  error // error for which the arriving entities are refused, or nil
}

// identities is the part of a register that cannot be derived from the world's components. It is a resource
// of the world, so that World.Save saves it.
type identities struct {
	Given uint64 // number of IDs that the region has given, and the number in the last of these IDs
}

// When lost has maxLost IDs, the method gained calls the method forget at once and does not wait for the end
// of the tick.
const maxLost = 4096

func newRegister(o WorldOptions) (*register, error) {
	if o.Regions > maxOrigins {
		return nil, fmt.Errorf("cluster: NewWorld: WorldOptions.Identity works with %d regions or fewer, "+
			"and there are %d", maxOrigins, o.Regions)
	}
	of := o.World.Options()
	index, err := bulk.NewHashIndex[ID, vast.Entity](bulk.Options{Name: of.Name,
		Capacity: of.MaxEntities + maxLost, Limit: of.Limit, Pages: of.Pages})
	if err != nil {
		return nil, err
	}
	r := &register{world: o.World, column: o.Identity, region: o.Region, regions: o.Regions,
		given: vast.SetResource(o.World, identities{}), index: index}
	r.column.OnAdd(r.gained)
	r.column.OnRemove(func(_ vast.Entity, id *ID) { r.lost = append(r.lost, *id) })
	r.world.OnMove(r.moved)
	return r, nil
}

func (r *register) has(e vast.Entity, id ID) bool {
	known := r.column.Get(e)
	return known != nil && *known == id
}

func (r *register) find(id ID) (vast.Entity, bool) {
	if e, ok := r.index.First(id); ok && r.has(e, id) {
		return e, true
	}
	return vast.Entity{}, false
}

// gained is called for each entity that gains the component. If *id is 0, the entity gets a new ID. An entity
// that arrives keeps its ID.
func (r *register) gained(e vast.Entity, id *ID) {
	if len(r.lost) >= maxLost {
		r.forget()
	}
	var err error
	if r.arriving {
		err = r.index.Grow(1)
	}
	if err == nil {
		err = r.enter(e, id)
	}
	switch {
	case err == nil:
	case r.arriving:
		r.refused = err
		panic(err) // for World.unpack
	case errors.As(err, new(*vm.Error)):
		panic(err)
	default:
		panic(fmt.Sprintf("cluster: %v: add the component with the ID 0, or call World.Remote: then the "+
			"entity gets an ID of its own", err))
	}
}

// enter adds an entity to the index. If *id is 0, enter also gives the entity a new ID. If there is no
// memory, enter panics as [bulk.HashIndex.Add] does, and *id is unchanged.
func (r *register) enter(e vast.Entity, id *ID) error {
	if *id != 0 {
		if err := r.check(e, *id); err != nil {
			return err
		}
		r.index.RemoveAll(*id) // the index may have another entity, which has lost this ID
		r.index.Add(*id, e)
		return nil
	}
	if err := r.exhausted(); err != nil {
		return err
	}
	next := idOf(r.region, r.given.Given+1)
	r.index.Add(next, e)
	r.given.Given++
	*id = next
	return nil
}

// check returns an error if e must not have the ID.
func (r *register) check(e vast.Entity, id ID) error {
	if id.number() == 0 || id.Origin() >= r.regions {
		return fmt.Errorf("entity %v has the ID %v, which none of %d regions gives", e, id, r.regions)
	}
	if id.Origin() == r.region && id.number() > r.given.Given {
		return fmt.Errorf("entity %v has the ID %v, and region %d has given %d IDs so far", e, id, r.region,
			r.given.Given)
	}
	if other, ok := r.find(id); ok && other != e {
		return fmt.Errorf("entity %v has the ID %v, which entity %v has", e, id, other)
	}
	return nil
}

func (r *register) exhausted() error {
	if r.given.Given < maxNumbers {
		return nil
	}
	return &vm.Error{Op: "give an ID", Purpose: r.world.Options().Name, Bytes: 8, Err: vm.ErrCapacity,
		Detail: fmt.Sprintf("region %d has given all of its %d IDs", r.region, uint64(maxNumbers))}
}

// room returns an error if the region cannot give another ID. Otherwise it reserves memory for the ID.
func (r *register) room() error {
	if err := r.exhausted(); err != nil {
		return err
	}
	return r.index.Grow(1)
}

// forget removes lost IDs from the index, except IDs that entities still have.
func (r *register) forget() {
	for _, id := range r.lost {
		if e, ok := r.index.First(id); ok && !r.has(e, id) {
			r.index.Remove(id, e)
		}
	}
	r.lost = r.lost[:0]
}

// moved is the callback of vast.World.OnMove.
func (r *register) moved(old, now vast.Entity) {
	if id := r.column.Get(now); id != nil && r.index.Remove(*id, old) {
		r.index.Add(*id, now)
	}
}

// loaded builds the index after the world was loaded, because loading calls no callbacks. If a program
// without IDs has saved the state, no entity has an ID, and r.given.Given is 0.
func (r *register) loaded() error {
	r.index.Clear()
	r.lost = r.lost[:0]
	if r.given.Given > maxNumbers {
		return fmt.Errorf("cluster: the state is damaged: region %d has given %d IDs", r.region,
			r.given.Given)
	}
	n := r.column.Len()
	if err := r.index.Grow(n); err != nil {
		return err
	}
	for e := range probe.All(r.world.Query(r.column)).All() {
		id := *r.column.Get(e)
		if err := r.check(e, id); err != nil {
			return fmt.Errorf("cluster: the state is damaged: %w", err)
		}
		r.index.Add(id, e)
	}
	return nil
}

func (r *register) checkInvariants() {
	for e := range probe.All(r.world.Query(r.column)).All() {
		id := *r.column.Get(e)
		if known, ok := r.find(id); !ok || known != e {
			panic(fmt.Sprintf("cluster: entity %v has the ID %v, which World did not give it: do not "+
				"write into the column WorldOptions.Identity", e, id))
		}
	}
	if n := r.column.Len(); r.index.Len() != n {
		panic(fmt.Sprintf("cluster: %d entities have IDs, and the index has %d", n, r.index.Len()))
	}
}
