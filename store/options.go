package store

import (
	"reflect"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
)

// Options are the options for saving and loading worlds, and for stores. The zero value works for worlds
// whose HeapColumns need no codec.
type Options struct {
	// Resources are the types of the resources that are saved and loaded with the world, such as
	// reflect.TypeFor[Clock](). The values of resources follow the rules for the components of a HeapColumn:
	// see [Save]. Default: none.
	Resources []reflect.Type
	// Codecs encode values of types that package store cannot encode. A codec can also replace the usual
	// encoding of a type. Make codecs with [CodecOf]. A codec applies to all values of its type in
	// HeapColumns and resources, also inside of other values.
	Codecs []Codec
	// Containers are the containers of package bulk, the queues of package event, and the jobs in flight of
	// package sched, that are saved and loaded together with the world. The keys are their names in the file,
	// and the values are pointers to them: *bulk.Array, *bulk.Pool, *bulk.Dense, *bulk.Table, *bulk.Lists,
	// *bulk.HashIndex, *bulk.OrderedIndex, *bulk.Indexed, *event.Queue, and *sched.Jobs. A *bulk.Indexed
	// stands for its pool and the indices attached to the pool. After Load, each container has the same
	// elements in the same places, its Handles and Lists are valid, and it continues like the saved
	// container. See [Load] for exceptions. Jobs start again after Load. [Store.Attach] needs all event
	// queues and Jobs of the schedule in Containers.
	//
	// SharedArray, SharedPool and SharedTable are not accepted, because other goroutines may change them
	// while the world is being saved. Default: none.
	Containers map[string]any
	// Renamed maps the old names of columns and fields in the file to their new names in the program, such as
	// "Speed": "Velocity" for a column and "Position.Depth": "Position.Z" for a field. The path of a field
	// begins with the new name of its column. Resources, containers and fields of tables are renamed
	// likewise. ReadJSON also drops columns, fields and resources whose new name is empty. Load, Open,
	// OpenAt, ReadJSON and Packer.Accept use Renamed.
	Renamed map[string]string

	// The following fields are for stores: see [Open].

	// Every is the time from one checkpoint to the next. A checkpoint is taken after the tick in which it is
	// due. It is skipped if the previous checkpoint is still being written. Default: a second.
	Every time.Duration
	// Keep is the number of newest checkpoints that the folder keeps. The folder also keeps the files that
	// these checkpoints need, because a file may hold only the changes since an earlier file. Default: 1.
	Keep int
	// KeepFor makes the folder also keep older checkpoints, up to this age. The store removes some of them:
	// the time between two kept neighbours is at most a quarter of their age, if the store took enough
	// checkpoints. If it took one each second, a little more than a hundred checkpoints cover a day. The
	// clocks of the programs that took the checkpoints measure the age, and a copy of the folder does not
	// change it. Default: only the checkpoints of Keep stay.
	KeepFor time.Duration
	// KeepBytes limits the bytes of all files, including the journal, after each checkpoint. The file of a
	// checkpoint that is still being written does not count. If the files have more bytes, the store removes
	// the oldest checkpoints, even if Keep and KeepFor would keep them. The newest checkpoint stays with the
	// files that it needs. If neither Keep nor KeepFor is set, KeepBytes also sets KeepFor to an unlimited
	// age. Default: no limit.
	KeepBytes int64
	// Build names the program's simulation. Recover replays only ticks that a program of the same build
	// recorded, because another build may compute another world. All programs with the same Build must
	// compute the same worlds. The function apply of Recover must understand the inputs of older builds:
	// recorded inputs that no tick has applied wait for the next program of any build. Default: a hash of the
	// executable file.
	Build string
	// DropTail makes Recover drop the ticks and inputs that follow the last checkpoint, instead of replaying
	// them. It is for a program whose build cannot replay them.
	DropTail bool
	// Check makes the store check at intervals that the program can repeat its ticks. Default: no checks.
	Check Check
	// Notify is called on a goroutine of the store when a checkpoint is durable or has failed. If a
	// checkpoint fails during the pause for its copy, Notify is not called. Notify must return soon, and must
	// not call methods of the store. Default: nothing.
	Notify func(Checkpoint)
}

// engine holds the methods of package vast that this package calls. restored stands for the world that is
// being restored.
var engine = state.Vast.(interface {
	Describe(w *vast.World) (*state.World, error)
	Restore(w *vast.World, s *state.World) (restored any, arrays []state.Array, err error)
	Settle(restored any) error
	Finish(restored any) error
	Abandon(restored any)
	OnSettle(w *vast.World, f func())
	Value(column any, slot int) reflect.Value
	Assign(column any, slot int, v reflect.Value)
	Slots(column any, yield func(slot int) bool)
	NewLinks(w *vast.World, name string, values reflect.Type, capacity int, o vast.RelationOptions)
})

// bulkEngine holds the method of package bulk that this package calls.
var bulkEngine = state.Bulk.(interface {
	Container(container any) (state.Container, error)
})
