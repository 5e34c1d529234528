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

// limitOf returns the budget for a value of the environment variable. An invalid value gives a budget of 0
// bytes, so that a misspelt limit is noticed: the error of each commit gives the reason.
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

// DefaultLimit returns the budget of regions and mirrors whose options name no budget. The result is nil if
// there is no default budget: see [SetDefaultLimit].
func DefaultLimit() *Limit {
	readDefault()
	return defaultLimit.Load()
}

// SetDefaultLimit makes l the budget of all later regions and mirrors whose options name no budget, including
// the regions of containers and worlds; nil means no budget. Existing regions keep their budgets. To exempt a
// region from the default budget, give it another budget, such as NewLimit(math.MaxInt). The default budget
// does not limit [Static] tables.
//
// Before SetDefaultLimit is called, the environment variable VAST_LIMIT gives the default budget, even for
// regions that package-level variables reserve. Without the variable there is no budget. In a container of
// the operating system, use ContainerLimit(75) or VAST_LIMIT=75%: a commit beyond this share of the
// container's memory returns an [*Error] wrapping ErrLimit, and the process continues.
//
// A budget counts all committed memory. A program often touches much less, because this module's containers
// commit a step ahead. Therefore the default is no budget: a budget could stop programs that run well.
func SetDefaultLimit(l *Limit) {
	readDefault() // a later read would overwrite l
	defaultLimit.Store(l)
}

// ContainerLimit returns a budget of the given percentage of the container's memory. If GOMEMLIMIT or
// debug.SetMemoryLimit limits the Go heap, ContainerLimit subtracts that limit from the container's memory
// before it computes the percentage. If no memory remains, the budget is 0 bytes, and the error of each
// commit gives the reason. The memory outside the budget is for the Go heap, stacks, the program itself and
// other processes in the container. ContainerLimit panics if percent is less than 1 or more than 100.
//
// The container's memory is the smallest of these limits:
//
//   - on Linux, the limits of the process's control group and of the groups above it (memory.max and
//     memory.high, or memory.limit_in_bytes in version 1 of control groups);
//   - on Windows, the memory limit of the process's job;
//   - the memory of the machine.
//
// If none of these limits is known, the result is nil: no budget.
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

// ParseLimit parses a budget: a number of bytes as in GOMEMLIMIT (64MiB, 2GiB, 1000000), or a share as in
// [ContainerLimit] (75%). The text "off" and the empty string mean no budget, and the result is nil.
func ParseLimit(text string) (*Limit, error) {
	wrong := fmt.Errorf("%s=%s is not understood: want bytes such as 512MiB, a share of the container's "+
		"memory such as 75%%, or off",
		LimitVariable, strconv.Quote(text))
	if text == "" || text == "off" {
		return nil, nil
	}
	if digits, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.Atoi(digits)
		if err != nil || percent < 1 || percent > 100 || strings.HasPrefix(digits, "+") {
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
