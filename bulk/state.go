package bulk

import (
	"fmt"
	"math"
	"reflect"

	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/vm"
)

// states has the methods that packages store, vast and sharing call. If a program does not call these
// methods, the linker drops them and the code that saves and restores containers.
type states struct{}

func init() { state.Bulk = states{} }

// Container returns the state of a container, for saving or restoring the container. It returns an error if
// containers of this type cannot be saved. It panics if the container is closed.
func (states) Container(container any) (state.Container, error) {
	kept, err := keep(container)
	if err != nil {
		return nil, err
	}
	return kept.(state.Container), nil
}

// PoolOf makes a pool of elements whose type is known only at run time. The caller reads and writes the
// elements: the method Memory of rooms.Pool returns the address of slot 0, and each slot has the size of the
// type. The pointers from Insert and Get must not be dereferenced; they are nil if there is no element.
func (states) PoolOf(element reflect.Type, o Options) (*Pool[struct{}], error) {
	plan, err := newPlan[struct{}]("Pool", o, maxSlots)
	if err != nil {
		return nil, err
	}
	plan.element, plan.sizeElement = element, int(element.Size())
	if plan.capacity > math.MaxInt/8/plan.sizeElement {
		return nil, &vm.Error{Op: "reserve", Purpose: plan.name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: "use fewer or smaller elements"}
	}
	return poolOf[struct{}](plan, o)
}

// keep returns the state.Container of a container. The type of the result is any: for an interface with
// methods, the linker would keep these methods in every program that has the container.
func keep(container any) (any, error) {
	k, ok := container.(interface{ keep() (any, error) })
	if !ok {
		return nil, fmt.Errorf("a %T cannot be saved: give the pointer to an Array, a Pool, a Dense, a "+
			"Table, Lists, a HashIndex, an OrderedIndex or an Indexed of package bulk, or an event.Queue, "+
			"and copy the elements of other containers into one of these", container)
	}
	if reflect.ValueOf(container).IsNil() {
		return nil, fmt.Errorf("the %T is nil: make it first", container)
	}
	return k.keep()
}

// The kinds of containers in files.
const (
	kindArray        = "array"
	kindPool         = "pool"
	kindDense        = "dense"
	kindTable        = "table"
	kindLists        = "lists"
	kindHashIndex    = "hash index"
	kindOrderedIndex = "ordered index"
)

// wasUsed returns the error of loading into a container that is not new.
func (p *plan) wasUsed() error {
	return fmt.Errorf("%s has or had elements: load into a new container", p.name)
}

func (p *plan) mustHold(n int) error {
	if n < 0 || n > p.capacity {
		return p.full(opGrow, n, 0)
	}
	return nil
}

// sound calls check, which panics if a container contradicts itself, and returns the panic as an error.
func sound(check func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	check()
	return nil
}
