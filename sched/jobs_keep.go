package sched

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/state"
)

// kept is implemented by Jobs.
type kept interface{ keep() state.Container }

// Container returns the state of Jobs for package store. It returns nil if the argument is no *Jobs.
func (schedules) Container(container any) state.Container {
	if j, ok := container.(kept); ok {
		return j.keep()
	}
	return nil
}

func (j *Jobs[In, Out]) keep() state.Container { return &jobsInFlight[In, Out]{j: j} }

// jobsInFlight implements state.Container. The state of Jobs is the list of the jobs in flight, in the
// order of their starts.
type jobsInFlight[In, Out any] struct {
	j     *Jobs[In, Out]
	saved []savedJob[In]
}

// savedJob is a job in flight, as a file stores it. It has no Go pointers.
type savedJob[In any] struct {
	Left  uint32 // number of ticks until the result is due; 0 if it is due and Results has not yielded it
	Input In
}

func (f *jobsInFlight[In, Out]) Of() []any { return []any{f.j} }

func (f *jobsInFlight[In, Out]) Describe() state.Contents {
	j := f.j
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.schedule.number
	f.saved = make([]savedJob[In], len(j.list))
	for i, r := range j.list {
		f.saved[i] = savedJob[In]{uint32(max(r.due, now) - now), r.in}
	}
	return state.Contents{Kind: "jobs", Len: len(f.saved)}
}

func (f *jobsInFlight[In, Out]) Arrays(d state.Contents, column int) []state.Array {
	return []state.Array{{Kind: state.Elements, Column: column, Len: d.Len,
		Type:  reflect.TypeFor[savedJob[In]](),
		Read:  func(dst []byte, lo int) { copy(dst, f.bytes(lo)) },
		Write: func(src []byte, lo int) error { copy(f.bytes(lo), src); return nil },
	}}
}

// bytes returns the bytes of the saved jobs from job lo on. The bytes hold no Go pointers, so the garbage
// collector does not need to know what is written to them.
func (f *jobsInFlight[In, Out]) bytes(lo int) []byte {
	part := f.saved[lo:]
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(part))),
		len(part)*int(unsafe.Sizeof(savedJob[In]{})))
}

func (f *jobsInFlight[In, Out]) Reserve(d state.Contents) error {
	j := f.j
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.counts.Started > 0:
		return fmt.Errorf("the Jobs %q have or had jobs: load into new Jobs", j.options.Name)
	case d.Len < 0 || d.Len > j.options.Limit:
		return fmt.Errorf("the file has %d jobs in flight, and JobsOptions.Limit of %q is %d: raise the "+
			"limit", d.Len, j.options.Name, j.options.Limit)
	}
	f.saved = make([]savedJob[In], d.Len)
	return nil
}

// Settle starts the jobs of the file again.
func (f *jobsInFlight[In, Out]) Settle(state.Contents, []state.Array) error {
	j := f.j
	for i := range f.saved {
		if left := f.saved[i].Left; left > math.MaxInt32 {
			return fmt.Errorf("job %d of %q has %d ticks left, and no job has more than %d", i+1,
				j.options.Name, left, math.MaxInt32)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range f.saved {
		j.begin(&jobRun[In, Out]{due: j.schedule.number + uint64(f.saved[i].Left), in: f.saved[i].Input})
	}
	return nil
}

func (f *jobsInFlight[In, Out]) Abandon(state.Contents) { f.j.reset() }
