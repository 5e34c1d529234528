package vastsql

import (
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

// Options sets the limits of statements, allows statements to write, and adds tables. With the zero value,
// statements have the default limits and only read.
type Options struct {
	// MaxCopyBytes limits the bytes of columns that one statement may copy. The copy delays the world's owner
	// by about 0.1 ms for each MB. The blobs and the JSON text of a HeapColumn count if the statement uses
	// their fields. An UPDATE uses all fields of its table. The default is 64 MiB.
	MaxCopyBytes int

	// MaxPause limits how long a statement may delay the world's owner while values are read one by one:
	// names, the components of entities, edges, and the elements of a SparseColumn or HeapColumn. The default
	// is 20 ms.
	MaxPause time.Duration

	// MaxTime limits the time of one statement, from its start to the last row. The default is a minute.
	MaxTime time.Duration

	// MaxRows limits the rows that one statement may return or write. The default is 10 million.
	MaxRows int

	// MaxMemoryBytes limits the memory that SQLite may take for one connection. A connection may always take
	// 8 MiB. The sorted rows of all connections together may take another MaxMemoryBytes. MaxMemoryBytes also
	// limits the memory for the rows that one statement writes, and the memory for the values of percentile
	// and median. The default is 256 MiB.
	MaxMemoryBytes int

	// Store is the folder of the [store.Store] that keeps the world. A statement that ends in AS OF TICK n
	// reads the checkpoint of this tick, if the folder keeps one. A statement that would copy more than
	// MaxCopyBytes, or delay the world longer than MaxPause, reads the newest checkpoint instead, and sends a
	// note: see [WithNotes]. Without a folder, such statements return an error.
	Store string

	// Write allows INSERT, UPDATE and DELETE. Default: statements only read.
	Write bool

	// Edit carries out what a statement writes. A statement calls Edit with an encoded edit, on the goroutine
	// that runs the statement. Edit must hand the edit to the goroutine that owns the world, and that
	// goroutine must call [Apply] with the edit. Edit may return nil only when the edit is durable, because
	// the statement succeeds when Edit has returned nil and Apply has applied the edit. If the program keeps
	// its world in a store with a journal, set Edit to Store.Submit, and call Apply where the program applies
	// inputs. Default: the statement changes the world in a call of [vast.World.Visit].
	Edit func(ctx context.Context, edit []byte) error

	// Each element of Tables adds a table of the entities that have all listed columns. The key is the name
	// of the table.
	Tables map[string][]vast.AnyColumn

	// Each element of Lists adds a table of values outside of the world, such as the populations of towns.
	// The key is the name of the table. The value is a slice of structs whose first field is a [vast.Entity].
	// All these entities must be different. The table has a column for each field, as for a component of the
	// struct's type; the first column is named entity. Do not change the slice while the database is open.
	Lists map[string]any
}

func (o Options) withDefaults() Options {
	if o.MaxCopyBytes < 0 || o.MaxPause < 0 || o.MaxTime < 0 || o.MaxRows < 0 || o.MaxMemoryBytes < 0 {
		panic("vastsql: Open: a limit in Options is negative: leave it zero for the default")
	}
	taken := map[string]bool{entitiesTable: true}
	for _, t := range newReports() {
		taken[t.name] = true
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(o.Tables)), maps.Keys(o.Lists))
	for _, name := range names {
		lower := strings.ToLower(name)
		if name == "" || taken[lower] || strings.HasPrefix(lower, "sqlite_") ||
			strings.Contains(name, "\x00") {
			panic(fmt.Sprintf("vastsql: Open: the name %q in Options.Tables or Options.Lists is taken or "+
				"reserved: use another name", name))
		}
		taken[lower] = true
	}
	for name, list := range o.Lists {
		t := reflect.TypeOf(list)
		if t == nil || t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Struct ||
			t.Elem().NumField() == 0 || t.Elem().Field(0).Type != entityType {
			panic(fmt.Sprintf("vastsql: Options.Lists[%q] is a %v: use a slice of structs whose first field "+
				"is a vast.Entity", name, t))
		}
	}
	setDefault(&o.MaxCopyBytes, 64<<20)
	setDefault(&o.MaxPause, 20*time.Millisecond)
	setDefault(&o.MaxTime, time.Minute)
	setDefault(&o.MaxRows, 10_000_000)
	setDefault(&o.MaxMemoryBytes, 256<<20)
	return o
}

func setDefault[T comparable](limit *T, value T) {
	var zero T
	if *limit == zero {
		*limit = value
	}
}

// storedOptions returns the options for a stored moment. Copies of the columns have no limits, because no
// owner of a world waits for the copies.
func storedOptions(o Options) Options {
	o.MaxCopyBytes, o.MaxPause = math.MaxInt/4, math.MaxInt64
	return o
}

// LimitError reports that a statement has reached a limit of [Options].
type LimitError struct {
	Option string // name of the field of Options
	Detail string // what the statement needs, and how to need less
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("vastsql: Options.%s: %s", e.Option, e.Detail)
}

func tooManyBytes(need, limit int) error {
	return &LimitError{"MaxCopyBytes", fmt.Sprintf("the columns of the statement have %s, and the limit is "+
		"%s: name fewer columns, or raise the limit", vm.Bytes(need), vm.Bytes(limit))}
}
