package vast

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/vm"
)

// CommandsOptions are the options of [NewCommands]. The zero value works.
type CommandsOptions struct {
	// Bytes is the largest number of bytes that can be recorded between two calls of [World.Apply]. A command
	// takes 16 bytes plus the size of its value, rounded up to a multiple of 8. Bytes reserves only
	// addresses, not memory.
	// Default: 1 GiB; 64 MiB on Windows, where reserved addresses cost memory; 4 MiB with [vm.PagesHeap] and
	// on the heap stand-in, where the first command allocates all Bytes.
	Bytes int
}

// Commands record structural changes, and [World.Apply] makes these changes later. A program may record, but
// not change the structure, while a query runs. Make Commands with [NewCommands].
//
// Commands lie in memory off the Go heap, except values with Go pointers. Apply keeps this memory for the
// next commands; see [Commands.Trim]. If there is no memory, recording panics with a [*vm.Error], and earlier
// commands stay recorded; see [Commands.GrowBytes]. Recording panics if the Commands are closed, are being
// applied, or belong to another world.
//
// One goroutine at a time may record into Commands: give each goroutine its own Commands. Recording may run
// at the same time as queries, look-ups, and recording into other Commands of the same world, but not while
// the structure changes.
type Commands struct {
	base  unsafe.Pointer // the first command
	used  uintptr        // bytes of commands
	room  uintptr        // end of the committed memory; equal to used if record must call makeRoom
	world *World

	position     int     // the position that At set
	since        uintptr // offset at which the current piece begins
	pieces       []piece // the commands before the offset since
	lists        []list  // values with Go pointers, by column
	placeholders uint32  // the generation of this batch's placeholders; zero before the first
	applied      bool    // whether all commands were applied; then the next command begins at offset 0
	trimmed      bool    // whether trimApplied has removed all applied commands except births
	applying     bool    // whether Apply is running
	closed       bool
	pass         uint64 // number of the last Apply of these Commands
	span         vm.Span
	bytes        int // CommandsOptions.Bytes
}

// command is the head of a recorded command. The value of the command follows the head. The next command
// begins at the next multiple of 8 bytes.
type command struct {
	what  uint32 // the kind, and the number of the column or archetype
	words uint32 // length in words of 8 bytes, head included
	// entity is the entity that the command changes. For commandNew, Apply sets it to the new entity.
	entity Entity
}

const headBytes = unsafe.Sizeof(command{})

type commandKind uint32

const (
	commandNew commandKind = iota << kindShift
	commandDelete
	commandAdd
	commandSet
	commandRemove

	kindShift = 29 // the bits below hold the number of a column or archetype
)

func (h *command) kind() commandKind { return commandKind(h.what >> kindShift << kindShift) }

func (h *command) id() uint32 { return h.what &^ (7 << kindShift) }

// value returns the address of the command's value, if it has one.
func (h *command) value() unsafe.Pointer { return unsafe.Add(unsafe.Pointer(h), headBytes) }

// next returns the command after h. The command h must have no value.
func (h *command) next() *command { return (*command)(h.value()) }

// piece is a range of consecutive commands at one position.
type piece struct {
	position int
	from     uintptr // offset of the first command that is not applied
	to       uintptr // offset after the last command
}

// list holds recorded values with Go pointers, which must lie on the Go heap.
type list interface {
	clear()
	renew(*renewal)
}

type listOf[T any] struct{ values []T }

func (l *listOf[T]) clear() {
	clear(l.values)
	l.values = l.values[:0]
}

// maxCommands is the largest CommandsOptions.Bytes. The slot of a placeholder can address 2³² words of 8
// bytes. On 32-bit systems an int limits the bytes.
const maxCommands = min(32<<30, math.MaxInt/8)

// batches counts the batches of commands that have placeholders, over all worlds. A batch ends when Apply has
// applied all its commands.
var batches atomic.Uint32

type commandsList struct {
	mu    sync.Mutex // guards all
	all   []*Commands
	pass  uint64 // number of the last Apply
	order []place
}

// NewCommands returns empty Commands for a world. The Commands take no memory before the first command.
// Closing the world closes the Commands. Several goroutines may call NewCommands at the same time.
// NewCommands panics if Bytes is negative or more than 32 GiB (256 MiB on 32-bit systems).
func NewCommands(w *World, o CommandsOptions) *Commands {
	w.mustBeOpen("NewCommands")
	if o.Bytes < 0 || o.Bytes > maxCommands {
		panic(fmt.Sprintf("vast: NewCommands: Bytes is %d: use 1 to %d, or 0 for the default", o.Bytes,
			maxCommands))
	}
	if o.Bytes == 0 {
		o.Bytes = defaultCommands(w.options.Pages)
	}
	c := &Commands{world: w, bytes: o.Bytes}
	w.commands.mu.Lock()
	defer w.commands.mu.Unlock()
	w.commands.all = append(w.commands.all, c)
	return c
}

// later applies a recorded command to a column and reports whether the command had an effect. v is the
// address of the value. If the command makes a link, c resolves a placeholder in the value. If later cannot
// get memory, it panics with a [*vm.Error] and changes nothing.
type later func(c *Commands, kind commandKind, e Entity, v unsafe.Pointer) bool

func defaultCommands(p vm.Pages) int {
	switch {
	case vm.HeapStandIn() || p == vm.PagesHeap:
		return 4 << 20
	case dearAddresses:
		return 64 << 20
	}
	return 1 << 30
}

// At sets the position of the commands that are recorded after it. [World.Apply] orders commands by position
// first. Take the position from the work, for example the number of a [Batch]. Then the order does not depend
// on which goroutine recorded a command. The position is 0 before the first At and after Apply.
func (c *Commands) At(position int) {
	if c == nil {
		c.mustBeOpen("Commands.At of")
	}
	if c.used > c.since {
		c.cut()
	}
	c.position = position
}

// cut ends the current piece.
func (c *Commands) cut() {
	c.pieces = append(c.pieces, piece{c.position, c.since, c.used})
	c.since = c.used
}

// New records the birth of an entity and returns a placeholder for the entity. Later commands of the same
// Commands may use the placeholder in place of the entity. Everywhere else the placeholder is stale, like an
// entity of another world. After Apply, [Commands.Resolve] returns the entity.
//
// Apply does not replace placeholders in component values. Apply skips commands that use the placeholder at
// an earlier position than the birth, because the entity does not exist yet.
//
// The entity's components are zero, as by [Archetype.New]. To set a component, record SetLater or AddLater.
func (c *Commands) New(a *Archetype) Entity {
	if c == nil || a == nil || a.world != c.world {
		c.mustBeOpen(recording)
		if a == nil || a.world == nil {
			panic("vast: Commands.New: the archetype was not made with World.Archetype")
		}
		c.foreign("Commands.New: the archetype", a.world)
	}
	c.record(uint32(commandNew)|a.id, Entity{}, 0)
	for c.placeholders == 0 {
		c.placeholders = generation.Count(batches.Add(1))
	}
	return Entity{slot: uint32((c.used - headBytes) / 8), generation: c.placeholders}
}

// Delete records the deletion of e, as by [World.Delete].
func (c *Commands) Delete(e Entity) { c.record(uint32(commandDelete), e, 0) }

// recordFor records a command for a column and returns the address of the value. bytes is the size of the
// value.
func (c *Commands) recordFor(col *column, kind commandKind, e Entity, bytes uintptr) unsafe.Pointer {
	if col == nil || c == nil || col.world != c.world {
		c.mustKnow(col)
	}
	return c.record(uint32(kind)|col.id, e, bytes)
}

// record writes a command's head and returns the address of the value. bytes is the size of the value. record
// is sound because the span is committed up to room, never moves while the Commands are open, and holds no Go
// pointers.
func (c *Commands) record(what uint32, e Entity, bytes uintptr) unsafe.Pointer {
	if c == nil {
		c.mustBeOpen(recording)
	}
	size := headBytes + (bytes+7)&^7
	if size > c.room-c.used {
		c.makeRoom(size)
	}
	h := (*command)(unsafe.Add(c.base, c.used))
	c.used += size
	*h = command{what: what, words: uint32(size / 8), entity: e}
	return h.value()
}

// makeRoom makes room for a command of size bytes, or panics.
//
//go:noinline
func (c *Commands) makeRoom(size uintptr) {
	if c.applying {
		panic("vast: a command was recorded into Commands that are being applied: let hooks record into " +
			"other Commands, and apply the other Commands afterwards")
	}
	c.mustBeOpen(recording)
	if c.applied {
		c.begin()
	}
	if err := c.commit(c.used, size); err != nil {
		panic(err)
	}
}

func (c *Commands) begin() {
	c.applied, c.trimmed, c.placeholders, c.used, c.since = false, false, 0, 0, 0
	c.room = c.usable()
}

// commit commits memory for size bytes of commands. used is the offset at which these commands begin.
func (c *Commands) commit(used, size uintptr) error {
	if size > uintptr(c.bytes) || used > uintptr(c.bytes)-size {
		return &vm.Error{Op: "record", Purpose: c.world.options.Name, Bytes: int(size), Err: vm.ErrCapacity,
			Detail: fmt.Sprintf("the commands take %s of %s: apply them more often, or set a larger "+
				"CommandsOptions.Bytes", vm.Bytes(int(used)), vm.Bytes(c.bytes))}
	}
	if c.base == nil {
		o := &c.world.options
		// The region has headBytes more, so that a pointer to the end of the last command stays in the
		// region.
		r, err := vm.Reserve(c.bytes+int(headBytes), vm.Options{Name: o.Name, Limit: o.Limit, Pages: o.Pages})
		if err != nil {
			return err
		}
		if c.span, err = r.Carve(c.bytes+int(headBytes), 0); err != nil {
			return errors.Join(err, r.Close())
		}
		c.base = c.span.Base()
	}
	if err := c.span.CommitTo(int(used+size), 0); err != nil {
		return err
	}
	if !c.applied {
		c.room = c.usable()
	}
	return nil
}

func (c *Commands) usable() uintptr { return uintptr(min(c.span.Committed(), c.bytes)) }

// GrowBytes commits memory for the next commands, so that recording up to the given number of bytes cannot
// fail. [CommandsOptions] says how many bytes a command takes. If GrowBytes fails, it changes nothing and
// returns a [*vm.Error] that wraps vm.ErrCapacity, vm.ErrLimit or another error of package vm.
func (c *Commands) GrowBytes(bytes int) error {
	c.mustBeOpen("Commands.GrowBytes of")
	if bytes < 0 {
		panic(fmt.Sprintf("vast: Commands.GrowBytes(%d): the number of bytes cannot be negative", bytes))
	}
	if c.applying {
		panic("vast: Commands.GrowBytes of Commands that are being applied: call GrowBytes before or after " +
			"Apply")
	}
	if c.applied {
		// Resolve needs the applied commands until the next command is recorded at offset 0.
		return c.commit(0, uintptr(bytes))
	}
	return c.commit(c.used, uintptr(bytes))
}

// Resolve returns the entity that a placeholder of these Commands stands for, from [World.Apply] until the
// next command is recorded. It returns the zero Entity if the entity was not made, or if the placeholder
// belongs to an earlier batch of commands. It returns e itself if e is not a placeholder.
func (c *Commands) Resolve(e Entity) Entity {
	if c == nil {
		c.mustBeOpen("Commands.Resolve of")
	}
	return c.resolve(e)
}

func (c *Commands) resolve(e Entity) Entity {
	if !e.placeholder() {
		return e
	}
	if e.generation != c.placeholders {
		return Entity{}
	}
	if c.trimmed {
		return c.resolveTrimmed(e.slot)
	}
	at := uintptr(e.slot) * 8
	if at >= c.used || c.used-at < headBytes {
		return Entity{}
	}
	return c.head(at).entity
}

// resolveTrimmed finds the entity of a placeholder by its slot, among the births that trimApplied left.
func (c *Commands) resolveTrimmed(slot uint32) Entity {
	births := unsafe.Slice((*command)(c.base), c.used/headBytes)
	at, found := slices.BinarySearchFunc(births, slot, func(h command, slot uint32) int {
		return cmp.Compare(h.words, slot)
	})
	if !found {
		return Entity{}
	}
	return births[at].entity
}

// trimApplied moves the births among the applied commands to the front, for Resolve, and forgets all other
// commands. The words field of a moved birth then holds the slot of its placeholder.
func (c *Commands) trimApplied() {
	c.lists = nil
	if c.trimmed {
		return
	}
	births := uintptr(0)
	for at := uintptr(0); at < c.used && c.placeholders != 0; {
		h := *c.head(at)
		if h.kind() == commandNew {
			*c.head(births) = command{what: h.what, words: uint32(at / 8), entity: h.entity}
			births += headBytes
		}
		at += uintptr(h.words) * 8
	}
	c.trimmed, c.used, c.since, c.room = true, births, births, births
}

// placeholder reports whether Commands.New returned e. The generation of an entity contains the mark of its
// world, which is not zero. The generation of a placeholder contains no mark.
func (e Entity) placeholder() bool { return e.generation <= generation.MaxCount && e.generation != 0 }

// head returns the command at an offset. It is sound for the offset of a recorded command, for the same
// reasons as record.
func (c *Commands) head(at uintptr) *command { return (*command)(unsafe.Add(c.base, at)) }

// Trim gives back the memory that [Commands.GrowBytes] committed. If all commands were applied, Trim also
// gives back the memory of these commands. It keeps 16 bytes for each entity that these commands made,
// because [Commands.Resolve] needs them until the next command is recorded.
func (c *Commands) Trim() error {
	c.mustBeOpen("Commands.Trim of")
	if c.applying {
		panic("vast: Commands.Trim of Commands that are being applied: call Trim after Apply")
	}
	if c.applied {
		c.trimApplied()
	}
	if c.base == nil {
		return nil
	}
	err := c.span.DecommitTo(int(c.used))
	if !c.applied {
		c.room = c.usable()
	}
	return err
}

// Close releases the memory and drops the commands that were not applied. Recording panics after Close. If
// Close fails, the next call tries again. Otherwise further calls do nothing.
func (c *Commands) Close() error {
	if c == nil {
		c.mustBeOpen("Commands.Close of")
	}
	if c.applying {
		panic("vast: Commands.Close of Commands that are being applied: call Close after Apply")
	}
	if c.world == nil {
		return nil
	}
	l := &c.world.commands
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := c.close(); err != nil {
		return err
	}
	for i, other := range l.all {
		if other == c {
			l.all[i] = l.all[len(l.all)-1]
			l.all[len(l.all)-1] = nil
			l.all = l.all[:len(l.all)-1]
			break
		}
	}
	return nil
}

func (c *Commands) close() error {
	c.closed = true
	c.used, c.room, c.since, c.placeholders, c.pieces, c.lists = 0, 0, 0, 0, nil, nil
	if c.base == nil {
		return nil
	}
	return c.span.Region().Close()
}

func (c *Commands) mustBeOpen(what string) {
	if c == nil || c.world == nil {
		panic(fmt.Sprintf("vast: %s the zero Commands: make them with NewCommands", what))
	}
	c.world.mustBeOpen("Commands")
	if c.closed {
		panic(fmt.Sprintf("vast: %s closed Commands of world %q: do not use them after Close", what,
			c.world.options.Name))
	}
}

// recording is the beginning of messages about methods that record.
const recording = "a command was recorded into"

// mustKnow panics because a column does not belong to the Commands' world.
//
//go:noinline
func (c *Commands) mustKnow(col *column) {
	c.mustBeOpen(recording)
	if col == nil {
		panic("vast: a command was recorded for a column that was not made with NewColumn")
	}
	c.foreign("the column "+col.name, col.world)
}

//go:noinline
func (c *Commands) foreign(what string, of *World) {
	panic(fmt.Sprintf("vast: %s belongs to %s: record it in Commands of its own world", what,
		of.besides(c.world)))
}

func (l *commandsList) close() (errs []error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.all {
		errs = append(errs, c.close())
	}
	return errs
}
