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

// LimitVariable is the environment variable that says what all regions of a process together may commit, unless their
// program says otherwise: see [ParseLimit] for its values, and [SetDefaultLimit] for what it does.
const LimitVariable = "VAST_LIMIT"

// defaultLimit is the budget of what is made without one; nil means none.
var defaultLimit atomic.Pointer[Limit]

// readDefault takes the budget from the environment, once.
var readDefault = sync.OnceFunc(func() { defaultLimit.Store(limitOf(os.Getenv(LimitVariable))) })

// limitOf returns the budget that the environment asks for. One that it does not understand allows nothing, and says so
// when something is committed: a limit that was misspelt must not be none.
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

// DefaultLimit returns the budget of regions and mirrors that are made without one in their options, or nil where there
// is none, which is so unless the environment or the program sets one: see [SetDefaultLimit].
func DefaultLimit() *Limit {
	readDefault()
	return defaultLimit.Load()
}

// SetDefaultLimit makes l the budget of all regions and mirrors that are made from now on without one in their options,
// those of containers and worlds too; nil is none. What was made before keeps its budget. A part of a program that must
// not be bound gets a budget of its own, such as NewLimit(math.MaxInt).
//
// Without a call it is what the environment variable VAST_LIMIT says, which holds for package-level variables as well,
// and without that there is none. In a container a good one is ContainerLimit(75), or VAST_LIMIT=75%: then what would
// take the process past its container's memory is an [*Error] wrapping ErrLimit, and not its end.
//
// A budget counts what is committed, whether it is touched or not; memory is less, and sometimes much less: containers
// commit a step ahead, and a page that is mostly holes counts whole. Therefore no budget is taken from a container's limit
// unless somebody asks for it: it would refuse programs that run well. [Static] tables are not bound by it at all.
func SetDefaultLimit(l *Limit) {
	readDefault() // or it would come later
	defaultLimit.Store(l)
}

// ContainerLimit returns a budget of so many percent of what the memory limit of the process's container leaves beside
// the Go heap: of the limit, or where GOMEMLIMIT or debug.SetMemoryLimit says how large the Go heap may become, of what is
// left of it then. The limit is the smallest on the way from the control group of the process to the root (memory.max and
// memory.high, or memory.limit_in_bytes in version 1 of control groups), on Windows that of the job. Where there is none
// it is the memory of the machine, and where that is unknown too the result is nil, which is no budget.
//
// The rest is for the Go heap, for stacks, for the program itself and for what others do in the same container. It panics
// unless percent is 1 to 100.
func ContainerLimit(percent int) *Limit {
	if percent < 1 || percent > 100 {
		panic(fmt.Sprintf("vm: ContainerLimit(%d): a share is 1 to 100 percent", percent))
	}
	return shareOf(percent, ReadFacts(), debug.SetMemoryLimit(-1))
}

// shareOf is ContainerLimit with what it goes by.
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
			l.wrong = fmt.Sprintf("GOMEMLIMIT gives all of the %s that there are to the Go heap: lower it", Bytes(most))
			return l
		}
		most -= int(goHeap)
	}
	l.max.Store(int64(most) / 100 * int64(percent))
	return l
}

// ParseLimit returns the budget that a text asks for: a number of bytes as in GOMEMLIMIT (64MiB, 2GiB, 1000000), a share
// as in [ContainerLimit] (75%), or nil for no budget (off, or nothing).
func ParseLimit(text string) (*Limit, error) {
	wrong := fmt.Errorf("%s=%s is not understood: want bytes such as 512MiB, a share of the container's memory such as 75%%, or off",
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
	// More than there are addresses is no budget that anything could pass.
	if n > math.MaxInt/unit {
		return NewLimit(math.MaxInt), nil
	}
	return NewLimit(int(n * unit)), nil
}
