package metamorphic

import (
	"fmt"

	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

// Emptying is how a world is emptied.
type Emptying uint8

// The ways of emptying a world.
const (
	ByReset     Emptying = iota // World.Reset
	ByReopening                 // World.Close, and a new world
	ByDeleteAll                 // World.DeleteAll, and World.Trim
	OneByOne                    // World.Delete of each entity
)

// Configuration is one way to make a world. Nothing in it may make a difference.
type Configuration struct {
	Storage  probe.Storage
	Pages    vm.Pages
	Workers  int
	Emptying Emptying
	// TrimEvery trims the world after so many operations. Zero: never.
	TrimEvery int
	// Meddling has hooks and fills try what they must not do, and do what they may.
	Meddling bool
	// Growing makes room before every operation.
	Growing bool
	// Wrap stands in for a column, where a test wants one that misbehaves. Default: none.
	Wrap func(Column) Column
}

// String describes the configuration.
func (c Configuration) String() string {
	emptied := []string{"Reset", "Close and a new world", "DeleteAll and Trim", "Delete"}[c.Emptying]
	s := fmt.Sprintf("%v columns, %v, %d workers, emptied by %s", c.Storage, c.Pages, c.Workers, emptied)
	if c.TrimEvery > 0 {
		s += fmt.Sprintf(", trimmed every %d operations", c.TrimEvery)
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

// Configurations are twelve in which each storage meets each kind of pages, and the others in turn. The first is the default.
func Configurations() (cs []Configuration) {
	storages := []probe.Storage{probe.StorageDense, probe.StorageSparse, probe.StorageHeap}
	pages := []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge, vm.PagesHeap}
	workers := []int{1, 2, 4}
	for i := range 12 {
		cs = append(cs, Configuration{Storage: storages[i%3], Pages: pages[i%4], Workers: workers[i/4], Emptying: Emptying((i + i/4) % 4),
			TrimEvery: []int{0, 7, 1, 50}[(i/2)%4], Meddling: i%4 >= 2, Growing: i%5 >= 3})
	}
	return cs
}
