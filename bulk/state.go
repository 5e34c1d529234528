package bulk

import (
	"fmt"
	"math"
	"reflect"

	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/vm"
)

// states has the methods that package store and package vast call. The linker drops methods that a program
// does not call, and with them the code that saves and restores containers.
type states struct{}

func init() { state.Bulk = states{} }

// Container returns the state of a container, to save it or to restore it. It returns an error if the
// container is of a type that cannot be saved. It panics if the container is closed.
func (states) Container(container any) (state.Container, error) {
	kept, err := keep(container)
	if err != nil {
		return nil, err
	}
	return kept.(state.Container), nil
}

// PoolOf makes a pool with slots for elements of a type that is known only at run time. The caller reads and
// writes the elements: the element of slot i lies i × size bytes behind the address that the method Memory of
// rooms.Pool returns. The pointers that Insert and Get return only say whether there is an element.
func (states) PoolOf(element reflect.Type, o Options) (*Pool[struct{}], error) {
	plan, err := newPlan[struct{}]("Pool", o, maxSlots)
	if err != nil {
		return nil, err
	}
	plan.element, plan.sizeElement = element, int(element.Size())
	if plan.capacity > math.MaxInt/8/plan.sizeElement {
		return nil, &vm.Error{Op: "reserve", Purpose: plan.name, Bytes: plan.sizeElement, Err: vm.ErrSize,
			Detail: "use fewer or smaller elements"}
	}
	return poolOf[struct{}](plan, o)
}

// keep returns the state.Container of a container. The result is any: if it were an interface with methods,
// the linker would keep these methods in every program that has the container.
func keep(container any) (any, error) {
	k, ok := container.(interface{ keep() (any, error) })
	if !ok {
		return nil, fmt.Errorf("a %T cannot be saved: give the pointer to an Array, a Pool, a Dense, a "+
			"Table, Lists, a HashIndex, an OrderedIndex or an Indexed of package bulk, and copy the "+
			"elements of other containers into one of these", container)
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

// mustHold returns an error if a container cannot hold n elements.
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
