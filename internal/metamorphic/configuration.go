package metamorphic

import (
	"fmt"

	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

// Emptying is a way to empty a world.
type Emptying uint8

// The ways to empty a world.
const (
	ByReset     Emptying = iota // World.Reset
	ByReopening                 // World.Close, and a new world
	ByDeleteAll                 // World.DeleteAll, and World.Trim
	OneByOne                    // World.Delete for each entity
)

// Configuration describes a way to make a world. No result may depend on the configuration.
type Configuration struct {
	Storage  probe.Storage
	Pages    vm.Pages
	Workers  int
	Emptying Emptying
	// TrimEvery is the number of operations between two calls of World.Trim; 0 for no calls.
	TrimEvery int
	// RegroupEvery is the number of operations between two calls of World.Regroup; 0 for no calls.
	RegroupEvery int
	// Grouping makes queries read the bits of groups, where package group permits it.
	Grouping bool
	// Meddling makes hooks and the callbacks of NewN and CloneN call the world, with permitted and with
	// forbidden calls.
	Meddling bool
	// Growing makes room before every operation, with the Grow methods of columns, archetypes and so on.
	Growing bool
	// Wrap wraps each column, for a test that needs a faulty column. Nil wraps nothing.
	Wrap func(Column) Column
}

// String describes the configuration.
func (c Configuration) String() string {
	emptied := []string{"Reset", "Close and a new world", "DeleteAll and Trim", "Delete"}[c.Emptying]
	s := fmt.Sprintf("%v columns, %v, %d workers, emptied by %s", c.Storage, c.Pages, c.Workers, emptied)
	if c.TrimEvery > 0 {
		s += fmt.Sprintf(", trimmed every %d operations", c.TrimEvery)
	}
	if c.RegroupEvery > 0 {
		s += fmt.Sprintf(", regrouped every %d operations", c.RegroupEvery)
	}
	if c.Grouping {
		s += ", with groups"
	}
	if c.Meddling {
		s += ", with callbacks that meddle"
	}
	if c.Growing {
		s += ", with room made ahead"
	}
	if c.Wrap != nil {
		s += ", wrapped"
	}
	return s
}

// Configurations returns sixteen configurations. They combine each storage with each kind of pages, and vary
// the other fields except Wrap. The first configuration has the default storage and the default pages.
func Configurations() (cs []Configuration) {
	storages := []probe.Storage{probe.StorageDense, probe.StorageSparse, probe.StorageHeap,
		probe.StorageShared}
	pages := []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge, vm.PagesHeap}
	workers := []int{1, 2, 4}
	for i := range 16 {
		cs = append(cs, Configuration{Storage: storages[i%4], Pages: pages[(i+i/4)%4],
			Workers:  workers[i/4%3],
			Emptying: Emptying((i + i/4) % 4), TrimEvery: []int{0, 7, 1, 50}[(i/2)%4],
			RegroupEvery: []int{0, 0, 11, 3}[i*5/4%4], Grouping: i%5 == 2 || i%5 == 3,
			Meddling: i%4 >= 2, Growing: i%5 >= 3})
	}
	return cs
}
