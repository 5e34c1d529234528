package earth

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

// past is a resource of the world. It has the parameters with which the world was made, and counts of later
// events. The folder Config.Data keeps past and the entities.
type past struct {
	Seed       uint64 // as in the Config
	Travellers int    // as in the Config
	Places     string // a hash of the list; empty without Config.Data

	ticks       uint64
	born        uint32 // number of travellers so far, including the travellers at the start, modulo 2³²
	bornInTicks int
	died        int
	changes     uint64 // structural changes in all ticks
	// departed describes, for each of the last Lookahead ticks, the travellers who departed for another
	// region. They have not arrived there yet, so they are in no region.
	departed [Lookahead]departed
	crossed  uint64 // number of departures for another region in all ticks
}

type departed struct {
	digest     digest
	travellers int
}

// ErrOther is the error of [New] if the folder keeps a world with another seed, number of travellers or list
// of places. The error that wraps ErrOther says what differs.
var ErrOther = errors.New("the folder keeps another world")

// Store returns the store that keeps the world, or nil without Config.Data. To change the world between
// ticks, a caller must pass inputs to [store.Store.Submit]: see Config.Apply. A caller may close the store
// after the last tick: the world is then durable, and can still be read. Otherwise [Earth.Close] closes the
// store.
func (e *Earth) Store() *store.Store { return e.store }

// Resumed returns the number of ticks that the world had already run when New returned.
func (e *Earth) Resumed() uint64 { return e.resumed }

func resources() []reflect.Type { return []reflect.Type{reflect.TypeFor[past]()} }

// open opens the folder Config.Data and reports whether the folder keeps a world already. If Config.Data is
// empty, open opens no folder and returns false. After a successful open, the world has the resource past.
func (e *Earth) open(c Config, list *places.List) (kept bool, err error) {
	wanted := past{Seed: c.Seed, Travellers: c.Travellers}
	if c.Data == "" {
		e.past = vast.SetResource(e.world, wanted)
		return false, nil
	}
	seed, travellers, found, err := Kept(c.Data)
	if err != nil {
		return false, err
	}
	other := func(what string, is, want any) error {
		return fmt.Errorf("earth: %w: %q has the %s %v, not %v", ErrOther, c.Data, what, is, want)
	}
	switch {
	case found && seed != c.Seed:
		return false, other("seed", seed, c.Seed)
	case found && travellers != c.Travellers:
		return false, other("number of travellers", travellers, c.Travellers)
	}
	e.store, err = store.Open(c.Data, e.world, store.Options{Resources: resources(), Notify: c.Notify,
		DropTail: c.DropTail, Every: c.Every})
	if err != nil {
		return false, err
	}
	wanted.Places = hashOf(list)
	if e.store.New() {
		e.past = vast.SetResource(e.world, wanted)
		return false, nil
	}
	if e.past = vast.FindResource[past](e.world); e.past.Places != wanted.Places {
		return false, fmt.Errorf("earth: %w: %q has other places: use the list of places with which the "+
			"world was made", ErrOther, c.Data)
	}
	return true, nil
}

// recover repeats the ticks that the store has recorded in the folder after the last checkpoint.
func (e *Earth) recover(apply func(w *vast.World, input []byte) error) error {
	if e.store == nil {
		return nil
	}
	if apply == nil {
		apply = func(*vast.World, []byte) error { return nil }
	}
	e.progress("recorded ticks", 0, 0)
	err := e.store.Recover(func(input []byte) {
		if errors.As(apply(e.world, input), new(*vm.Error)) {
			e.store.Changed() // a replay with more memory would not fail here, and would make another world
		}
	}, func() error {
		if err := e.prepare(); err != nil {
			return err
		}
		return e.advance()
	})
	e.resumed = e.ticks
	return err
}

// Kept returns the seed and the number of travellers with which the world in a folder was made. found is
// false if the folder keeps no world yet. Kept returns an error if the folder cannot be read, is open
// already, or keeps the world of another program.
//
// Complexity: Kept reads the last checkpoint.
func Kept(dir string) (seed uint64, travellers int, found bool, err error) {
	// A world without columns can load the entities of any world. Their components are not loaded.
	slots := slotsFor(places.MaxPlaces, 100_000_000)
	if vm.HeapStandIn() {
		slots = 1 << 21 // the heap stand-in allocates the memory of all slots in advance
	}
	w := vast.NewWorld(vast.Options{Name: "earth", MaxEntities: slots})
	defer func() { err = errors.Join(err, w.Close()) }()
	s, err := store.Open(dir, w, store.Options{Resources: resources()})
	if err != nil {
		return 0, 0, false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.New() {
		return 0, 0, false, nil
	}
	p := vast.FindResource[past](w)
	if p == nil || p.Places == "" {
		return 0, 0, false, fmt.Errorf("earth: %q keeps the world of another program", dir)
	}
	return p.Seed, p.Travellers, true, nil
}

// hashOf returns a hash of a list of places, 32 hexadecimal digits.
func hashOf(list *places.List) string {
	h := sha256.New()
	var b []byte
	for _, p := range list.All() {
		b = binary.LittleEndian.AppendUint64(b[:0], math.Float64bits(p.Lat))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.Lon))
		b = binary.LittleEndian.AppendUint64(b, uint64(p.Population))
		for _, text := range []string{p.Name, p.Country} {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
			b = append(b, text...)
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
