package vm

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// LimitVariable is the environment variable with the default budget of committed memory. [ParseLimit] lists
// the values of the variable, and [SetDefaultLimit] explains its effect.
const LimitVariable = "VAST_LIMIT"

// defaultLimit is the budget of regions whose options name no budget; nil means no budget.
var defaultLimit atomic.Pointer[Limit]

// readDefault reads the budget from the environment, once.
var readDefault = sync.OnceFunc(func() { defaultLimit.Store(limitOf(os.Getenv(LimitVariable))) })

// limitOf returns the budget for a value of the environment variable. For an invalid value the budget allows
// nothing, and the error of each commit says why: a misspelt limit must not mean no limit.
func limitOf(value string) *Limit {
	l, err := ParseLimit(value)
	if err != nil {
		l = &Limit{wrong: err.Error()}
	}
	if l != nil {
		l.source = LimitVariable + "=" + value
	}
	return l
}

// DefaultLimit returns the budget of regions and mirrors whose options name no budget. If neither the
// environment nor the program sets a default budget (see [SetDefaultLimit]), the result is nil: no budget.
func DefaultLimit() *Limit {
	readDefault()
	return defaultLimit.Load()
}

// SetDefaultLimit makes l the budget of all later regions and mirrors whose options name no budget, including
// the regions of containers and worlds; nil means no budget. Existing regions keep their budgets. A part of a
// program that this budget must not limit needs a budget of its own, such as NewLimit(math.MaxInt).
//
// Without a call of SetDefaultLimit, the default is the value of the environment variable VAST_LIMIT. The
// variable also limits regions that package-level variables reserve. Without the variable there is no budget.
// In a container a good choice is ContainerLimit(75), or VAST_LIMIT=75%. Then a commit that would take the
// regions past this share of the container's memory returns an [*Error] wrapping ErrLimit, and the process
// continues.
//
// A budget counts committed memory, touched or not. Memory in use is less, sometimes much less, because this
// module's containers commit a step ahead. Therefore the memory of the operating system's container is not
// the default budget: that budget would stop programs that run well. Default budgets do not limit [Static]
// tables.
func SetDefaultLimit(l *Limit) {
	readDefault() // a later read would overwrite l
	defaultLimit.Store(l)
}

// ContainerLimit returns a budget: the given percentage of the memory that the process's container leaves to
// regions. This memory is the container's limit minus the limit of the Go heap, if GOMEMLIMIT or
// debug.SetMemoryLimit sets one. The container's limit is the smallest limit from the process's control group
// to the root (memory.max and memory.high, or memory.limit_in_bytes in version 1 of control groups), or on
// Windows the limit of the process's job. The memory of the machine counts as a limit, too. If no limit is
// known, the result is nil: no budget.
//
// The remaining memory is for the Go heap, stacks, the program itself and other processes in the same
// container. ContainerLimit panics unless percent is 1 to 100.
func ContainerLimit(percent int) *Limit {
	if percent < 1 || percent > 100 {
		panic(fmt.Sprintf("vm: ContainerLimit(%d): a share is 1 to 100 percent", percent))
	}
	return shareOf(percent, ReadFacts(), debug.SetMemoryLimit(-1))
}

// shareOf does the work of ContainerLimit for given facts and a given limit of the Go heap.
func shareOf(percent int, f Facts, goHeap int64) *Limit {
	most := 0
	for _, n := range []int{f.ControlGroup, f.ControlGroupHigh, f.Memory} {
		if n > 0 && (most == 0 || n < most) {
			most = n
		}
	}
	if most == 0 {
		return nil
	}
	l := &Limit{}
	if goHeap < math.MaxInt64 {
		if goHeap >= int64(most) {
			l.wrong = fmt.Sprintf("GOMEMLIMIT gives all of the %s to the Go heap: lower GOMEMLIMIT",
				Bytes(most))
			return l
		}
		most -= int(goHeap)
	}
	l.max.Store(int64(most) / 100 * int64(percent))
	return l
}

// ParseLimit parses a budget: a number of bytes as in GOMEMLIMIT (64MiB, 2GiB, 1000000), a share as in
// [ContainerLimit] (75%), or no budget (off, or the empty string), which is nil.
func ParseLimit(text string) (*Limit, error) {
	wrong := fmt.Errorf("%s=%s is not understood: want bytes such as 512MiB, a share of the container's "+
		"memory such as 75%%, or off",
		LimitVariable, strconv.Quote(text))
	if text == "" || text == "off" {
		return nil, nil
	}
	if digits, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.Atoi(digits)
		if err != nil || percent < 1 || percent > 100 {
			return nil, wrong
		}
		return ContainerLimit(percent), nil
	}
	digits, unit := strings.TrimSuffix(text, "B"), int64(1)
	for i, suffix := range []string{"Ki", "Mi", "Gi", "Ti"} {
		if rest, ok := strings.CutSuffix(digits, suffix); ok && digits != text {
			digits, unit = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || strings.HasPrefix(digits, "+") {
		return nil, wrong
	}
	// A budget beyond all addresses cannot be exceeded.
	if n > math.MaxInt/unit {
		return NewLimit(math.MaxInt), nil
	}
	return NewLimit(int(n * unit)), nil
}
