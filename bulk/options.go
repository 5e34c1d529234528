package bulk

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// Options say how a container is made. The zero value works.
type Options struct {
	// Name is the purpose under which [vm.Snapshot] counts the container's bytes. Errors contain the name.
	// Default: the container's type, such as "bulk.Pool[Ship]".
	Name string
	// Capacity is the largest number of elements. Addresses for all of them are reserved. These addresses
	// take memory only if regions are Go heap memory ([vm.PagesHeap] or [vm.HeapStandIn]). Default: as many
	// as MaxBytes allows; without MaxBytes, as many as fill 16 GiB of addresses, or 16 MiB of Go heap memory.
	Capacity int
	// MaxBytes is a budget for the bytes of all elements. Exceeding it is an error wrapping [vm.ErrLimit].
	// Default: none.
	MaxBytes int
	// Limit is a budget of committed memory, shared with other containers. Default: [vm.DefaultLimit].
	Limit *vm.Limit
	// Pages is the page policy. Default: huge pages once the elements fill a huge page, if the system has
	// huge pages.
	Pages vm.Pages
	// Step is how many bytes of elements are committed at a time, rounded up to whole pages. Default: an
	// eighth of the committed memory, and at least 64 KiB.
	Step int
}

// minStep is the least number of bytes that growth commits by default. With steps of this size, system calls
// are rare compared with page faults.
const minStep = 64 << 10

// defaultReserve returns the bytes of addresses of a container without Options.Capacity and Options.MaxBytes.
func defaultReserve(p vm.Pages) int {
	if p == vm.PagesHeap || heapStandIn() {
		return 16 << 20
	}
	reserve := int64(16 << 30)
	return int(reserve)
}

var heapStandIn = sync.OnceValue(func() bool { return vm.ReadFacts().HeapStandIn })

// plan holds a container's options with their defaults filled in.
type plan struct {
	name        string
	sizeElement int  // bytes, at least 1
	capacity    int  // elements
	budget      int  // bytes, Options.MaxBytes
	byBudget    bool // growth ends at the budget, not at the capacity
	step        int  // bytes, Options.Step
	// element is the element type of a pool that states.PoolOf made, else nil.
	element reflect.Type
}

// newPlan checks the options of a container of T. kind is the name of the container's type, and maxElements
// the largest number of elements that the type can hold.
func newPlan[T any](kind string, o Options, maxElements int) (plan, error) {
	layout.Check[T]("bulk: New" + kind)
	for _, v := range []struct {
		name  string
		value int
	}{{"Capacity", o.Capacity}, {"MaxBytes", o.MaxBytes}, {"Step", o.Step}} {
		if v.value < 0 {
			panic(fmt.Sprintf("bulk: New%s[%s]: Options.%s is %d: leave it zero for the default", kind,
				layout.Name[T](), v.name, v.value))
		}
	}
	p := plan{name: o.Name, sizeElement: layout.Size[T](), capacity: o.Capacity, budget: o.MaxBytes,
		step: o.Step}
	if p.name == "" {
		p.name = "bulk." + kind + "[" + layout.Name[T]() + "]"
	}
	switch {
	case o.MaxBytes > 0 && (o.Capacity == 0 || o.MaxBytes/p.sizeElement < o.Capacity):
		p.capacity, p.byBudget = o.MaxBytes/p.sizeElement, true
		if p.capacity > maxElements {
			p.capacity, p.byBudget = maxElements, false
		}
	case o.Capacity == 0:
		p.capacity = min(max(1, defaultReserve(o.Pages)/p.sizeElement), maxElements)
	}
	if p.capacity > maxElements || p.capacity > math.MaxInt/8/p.sizeElement {
		return p, &vm.Error{Op: "reserve", Purpose: p.name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: fmt.Sprintf("Options.Capacity is %d elements of %d bytes: ask for at most %d", p.capacity,
				p.sizeElement,
				min(maxElements, math.MaxInt/8/p.sizeElement))}
	}
	return p, nil
}

// label names the elements in messages about invalid accesses.
func (p *plan) label(element string) vm.Label {
	return vm.Label{What: p.name, Element: element, Size: p.sizeElement}
}

// stepFrom returns how many bytes to commit at a time.
func (p *plan) stepFrom(committed int) int {
	if p.step > 0 {
		return p.step
	}
	return max(minStep, committed/8)
}

// operation is a method that makes room.
type operation uint8

const (
	opAdd operation = iota
	opAppend
	opAppendN // AppendN and AppendSlice
	opCompact
	opGrow
	opInsert
)

// String returns the operation's name in errors.
func (o operation) String() string {
	return [...]string{"add", "append", "append several", "compact", "grow", "insert"}[o]
}

// commitAhead calls commit(ahead). If that fails and o settles for less, it calls commit(need).
func (o operation) commitAhead(need, ahead int, commit func(n int) error) error {
	err := commit(ahead)
	if err != nil && need < ahead && o.settlesForLess(err) {
		err = commit(need)
	}
	return err
}

// settlesForLess reports whether to commit just the needed memory after commit(ahead) has failed with err.
// The answer is yes at a budget (vm.ErrLimit), which the program may use up. If the operating system has
// refused the memory, the answer is yes only for Grow, AppendN and AppendSlice. Other operations leave the
// last memory to the code that handles the error, and to Go's runtime, which ends a process that gets no
// memory.
func (o operation) settlesForLess(err error) bool {
	return o == opGrow || o == opAppendN || errors.Is(err, vm.ErrLimit)
}

// full returns the error of a container that has length elements and no capacity for n more.
func (p *plan) full(op operation, n, length int) *vm.Error {
	e := &vm.Error{Op: op.String(), Purpose: p.name, Bytes: math.MaxInt, Err: vm.ErrCapacity,
		Detail: fmt.Sprintf("%d of %d elements are in use: remove some, or raise Options.Capacity", length,
			p.capacity)}
	if n <= math.MaxInt/p.sizeElement {
		e.Bytes = n * p.sizeElement
	}
	if p.byBudget {
		e.Err = vm.ErrLimit
		e.Detail = fmt.Sprintf("%d of the %d elements that Options.MaxBytes (%s) allows are in use: remove "+
			"some, or raise it",
			length, p.capacity, vm.Bytes(p.budget))
	}
	return e
}
