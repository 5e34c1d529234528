package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/vastgo/vast/internal/disk"
)

// ErrStopped is the error of each call of a program that Kill or PowerCut has ended.
var ErrStopped = errors.New("the simulated process has ended")

// Disk is a simulated folder. Its methods may be called from any goroutine.
type Disk struct {
	mutex      sync.Mutex
	seed       uint64
	source     rand.PCG
	names      map[string]*file // files by name, as the program sees them
	durable    map[string]*file // files by name at the last Sync of the folder
	changes    []change         // changes of names since the last Sync of the folder
	life       int              // number of calls of Restart; identifies the program
	stopped    bool             // whether the program has ended
	cut        bool             // whether a power cut has ended the program
	calls      int64            // number of calls
	log        []Call
	stopAt     int64 // number of the call in which the program ends; 0 for no call
	cutAt      bool  // whether a power cut ends the program in the call stopAt
	failAt     int64 // number of the call that fails; 0 for no call
	faults     Faults
	capacity   int64 // limit of the bytes of all files; 0 for no limit
	refuseOpen bool  // whether Rename and Remove refuse open files
	watch      func(Call)
}

type change struct {
	op       Op
	name, to string
	file     *file
}

// New returns an empty disk. The seed decides which data survives a power cut and which calls fail.
func New(seed uint64) *Disk {
	return &Disk{
		seed:    seed,
		source:  *rand.NewPCG(seed, 0),
		names:   make(map[string]*file),
		durable: make(map[string]*file),
	}
}

// Folder returns the folder for the program that runs now. After [Disk.Kill] or [Disk.PowerCut], the methods
// of the folder and of its files return [ErrStopped], even after Restart. Therefore goroutines of a program
// that has ended cannot change the disk.
func (d *Disk) Folder() disk.Folder {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return &folder{d, d.life}
}

// Copy returns a copy of the disk with its files, its unsynced changes, its settings of [Disk.SetCapacity]
// and [Disk.RefuseOpen], its number of calls and its log. The copy has its own seed, and no faults, watcher,
// open files or planned end of the program. Complexity: proportional to the number of files and of unsynced
// changes, not to the number of bytes.
func (d *Disk) Copy(seed uint64) *Disk {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	copies := make(map[*file]*file)
	copyOf := func(f *file) *file {
		if copies[f] == nil {
			copies[f] = f.copy()
		}
		return copies[f]
	}
	c := New(seed)
	for name, f := range d.names {
		c.names[name] = copyOf(f)
	}
	for name, f := range d.durable {
		c.durable[name] = copyOf(f)
	}
	for _, change := range d.changes {
		change.file = copyOf(change.file)
		c.changes = append(c.changes, change)
	}
	c.life, c.stopped, c.cut = d.life, d.stopped, d.cut
	c.calls, c.log = d.calls, slices.Clip(d.log)
	c.capacity, c.refuseOpen = d.capacity, d.refuseOpen
	return c
}

// Kill ends the program between two calls. The files and names stay as the program left them. Changes that
// were not synced become durable at the next Sync.
func (d *Disk) Kill() { d.stop(false) }

// PowerCut ends the program between two calls. Restart then loses part of the data that was not synced.
func (d *Disk) PowerCut() { d.stop(true) }

func (d *Disk) stop(cut bool) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.stopped = true
	d.cut = d.cut || cut
}

// KillAt kills the program in the middle of a call. Calls are counted as for [Disk.Calls], from 1. KillAt
// replaces an earlier KillAt or PowerCutAt. KillAt(0) cancels it.
func (d *Disk) KillAt(call int64) { d.setStop(call, false) }

// PowerCutAt cuts the power in the middle of a call. It counts calls, and replaces an earlier KillAt or
// PowerCutAt, as [Disk.KillAt] does.
func (d *Disk) PowerCutAt(call int64) { d.setStop(call, true) }

func (d *Disk) setStop(call int64, cut bool) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.stopAt, d.cutAt = call, cut
}

// Stopped reports whether the program has ended.
func (d *Disk) Stopped() bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.stopped
}

// Restart starts the next program after Kill or PowerCut, and returns its folder. It panics if the program
// still runs. The settings of [Disk.SetFaults], [Disk.FailAt], [Disk.SetCapacity], [Disk.RefuseOpen] and
// [Disk.Watch] stay in force.
func (d *Disk) Restart() disk.Folder {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if !d.stopped {
		panic("sim: Restart of a disk whose program runs: call Kill or PowerCut first")
	}
	if d.cut {
		d.lose()
	}
	for _, f := range d.names {
		f.open = 0
	}
	d.life++
	d.stopped, d.cut, d.stopAt = false, false, 0
	return &folder{d, d.life}
}

// lose loses part of the unsynced data and changes, as a power cut does.
func (d *Disk) lose() {
	r := d.random()
	d.names = maps.Clone(d.durable)
	for _, c := range d.surviving(r) {
		c.apply(d.names)
	}
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		d.names[name].lose(r)
	}
	d.sync()
}

// surviving returns the changes that survive a power cut: the first few, or an arbitrary subset.
func (d *Disk) surviving(r *rand.Rand) []change {
	if r.IntN(2) == 0 {
		return d.changes[:r.IntN(len(d.changes)+1)]
	}
	chance := chances[r.IntN(len(chances))]
	var kept []change
	for _, c := range d.changes {
		if r.Float64() < chance {
			kept = append(kept, c)
		}
	}
	return kept
}

// chances are the probabilities with which a sector or a change survives. A power cut draws one probability
// for each file, and one for the changes if an arbitrary subset of them survives. If the probability were
// always 0.5, a power cut would hardly ever keep or lose all sectors of a large file.
var chances = [...]float64{0, 0.1, 0.5, 0.9, 1}

// apply makes a change in names. A rename or removal does nothing if its name does not refer to its file,
// because an earlier change has not survived.
func (c change) apply(names map[string]*file) {
	switch {
	case c.op == Create:
		names[c.name] = c.file
	case names[c.name] != c.file:
	case c.op == Rename:
		delete(names, c.name)
		names[c.to] = c.file
	default:
		delete(names, c.name)
	}
}

func (d *Disk) random() *rand.Rand { return rand.New(&d.source) }

// Names returns the names of the files, in order.
func (d *Disk) Names() []string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Sorted(maps.Keys(d.names))
}

// Bytes returns the bytes of a file as the program sees them. It panics if the file does not exist.
func (d *Disk) Bytes(name string) []byte {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Clone(d.mustFile(name).data)
}

// FlipBit inverts a bit of a file. The file must be synced, so that the bit is also inverted after a power
// cut. FlipBit panics if the file does not exist.
func (d *Disk) FlipBit(name string, bit int64) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	f := d.mustFile(name)
	f.data = slices.Clone(f.data) // copies of the disk share the array
	f.data[bit/8] ^= 1 << (bit % 8)
}

// Put creates or replaces a file. It makes the file and all names durable.
func (d *Disk) Put(name string, data []byte) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	f := &file{data: slices.Clone(data)}
	f.sync()
	d.names[name] = f
	d.sync()
}

// Lose removes a file and makes all names durable. It panics if the file does not exist.
func (d *Disk) Lose(name string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.mustFile(name)
	delete(d.names, name)
	d.sync()
}

func (d *Disk) sync() { d.durable, d.changes = maps.Clone(d.names), nil }

func (d *Disk) mustFile(name string) *file {
	f := d.names[name]
	if f == nil {
		panic(fmt.Sprintf("sim: the disk has no file %q, only %q", name, slices.Sorted(maps.Keys(d.names))))
	}
	return f
}

func pathError(op Op, name string, err error) error {
	return &fs.PathError{Op: op.String(), Path: name, Err: err}
}
