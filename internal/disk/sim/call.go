package sim

import (
	"fmt"
	"strings"
	"testing"
)

// Op is the kind of a call.
type Op uint8

// The calls of a folder and of a file.
const (
	Files Op = iota
	Create
	Open
	Rename
	Remove
	SyncFolder
	ReadAt
	Write // or WriteAt
	SyncFile
	Close
)

func (o Op) String() string {
	return [...]string{"files", "create", "open", "rename", "remove", "sync folder", "read", "write", "sync",
		"close"}[o]
}

// Call is a call that a program has made. For a call of an open file, Name is the name that the file had when
// it was opened.
type Call struct {
	Number int64 // from 1
	Op     Op
	Name   string // name of the file; empty for Files and SyncFolder
	To     string // new name of a Rename
	Offset int64  // offset of the first byte of a ReadAt, Write or WriteAt
	Bytes  int    // number of bytes that were read or written
	Err    error
}

func (c Call) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %v", c.Number, c.Op)
	if c.Name != "" {
		b.WriteString(" " + c.Name)
	}
	switch c.Op {
	case Rename:
		b.WriteString(" to " + c.To)
	case ReadAt, Write:
		fmt.Fprintf(&b, ": %d bytes at %d", c.Bytes, c.Offset)
	}
	if c.Err != nil {
		fmt.Fprintf(&b, ": %v", c.Err)
	}
	return b.String()
}

// Calls returns the number of calls since New. It does not count the calls that return [ErrStopped] because
// the program has ended before.
func (d *Disk) Calls() int64 {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.calls
}

// Log returns the calls that [Disk.Calls] counts.
func (d *Disk) Log() []Call {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.log[:len(d.log):len(d.log)]
}

// Watch makes the disk call f before each call, on the goroutine that makes the call. The function f may call
// the methods of the disk: for example, it may copy the disk and cut the power of the copy. The argument of f
// has no Number, Bytes and Err, and for the method Write (not WriteAt) no Offset: they are unknown before the
// call. Other goroutines may make calls between f and the call. A nil f ends the watch.
func (d *Disk) Watch(f func(Call)) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.watch = f
}

// watcher returns the function that Watch has set, or nil if the program has ended.
func (d *Disk) watcher(life int) func(Call) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.ended(life) {
		return nil
	}
	return d.watch
}

// PrintIfFailed prints the last 200 calls at the end of a test that has failed.
func (d *Disk) PrintIfFailed(t testing.TB) {
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		const most = 200
		var b strings.Builder
		log := d.Log()
		for _, c := range log[max(0, len(log)-most):] {
			fmt.Fprintf(&b, "\n%v", c)
		}
		t.Logf("the simulated disk of seed %d has had %d calls; the last of them:%s", d.seed, len(log),
			b.String())
	})
}
