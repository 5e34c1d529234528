package disk_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/internal/longtest"
)

// TestConformance: a folder of the operating system and a simulated folder without faults return the same
// results.
func TestConformance(t *testing.T) {
	operations := longtest.Pick(300, 1500)
	seen := make(map[string]int)
	for seed := range uint64(4) {
		simulated := sim.New(seed)
		simulated.PrintIfFailed(t)
		p := pair{t: t, seed: seed, seen: seen}
		p.system, p.simulated = openFolder(t, t.TempDir()), simulated.Folder()
		r := rand.New(rand.NewPCG(seed, 1))
		for range operations {
			p.callFolder(r)
		}
		p.closeAll()
	}
	for _, want := range []string{"<nil>", "exists", "does not exist", "not permitted", "closed", "invalid"} {
		if seen[want] == 0 {
			t.Errorf("no call returned %q", want)
		}
	}
}

// pair is two folders that get the same calls.
type pair struct {
	t                 *testing.T
	seed              uint64
	system, simulated disk.Folder
	files             []pairFile
	seen              map[string]int // number of calls that returned each kind of error
}

type pairFile struct {
	system, simulated disk.File
	closed            bool
}

func (p *pair) callFolder(r *rand.Rand) {
	names := []string{"a", "b", "c", "d.1", "e", "lock", "f/g"}
	name, other := names[r.IntN(len(names))], names[r.IntN(len(names))]
	switch r.IntN(12) {
	case 0, 1:
		a, systemErr := p.system.Create(name)
		b, err := p.simulated.Create(name)
		p.opened("Create "+name, a, b, systemErr, err)
	case 2:
		a, systemErr := p.system.Open(name)
		b, err := p.simulated.Open(name)
		p.opened("Open "+name, a, b, systemErr, err)
	case 3:
		if name == other {
			return // Folder.Rename needs two different names
		}
		p.closeForWindows()
		p.same("Rename "+name+" "+other, p.system.Rename(name, other), p.simulated.Rename(name, other))
	case 4:
		p.closeForWindows()
		p.same("Remove "+name, p.system.Remove(name), p.simulated.Remove(name))
	case 5:
		p.same("Sync", p.system.Sync(), p.simulated.Sync())
	case 6:
		a, systemErr := p.system.Files()
		b, err := p.simulated.Files()
		p.same("Files", systemErr, err)
		if !slices.Equal(a, b) {
			p.t.Fatalf("seed %d: the system lists the files %v, the simulation %v", p.seed, a, b)
		}
	default:
		if len(p.files) > 0 {
			p.callFile(r, &p.files[r.IntN(len(p.files))])
		}
	}
}

func (p *pair) callFile(r *rand.Rand, f *pairFile) {
	if f.closed && r.IntN(8) > 0 {
		return // calls of a closed file are rare
	}
	switch r.IntN(10) {
	case 0, 1, 2:
		bytes := randomBytes(r, r.IntN(3)*r.IntN(700))
		m, systemErr := f.system.Write(bytes)
		n, err := f.simulated.Write(bytes)
		p.same(fmt.Sprintf("Write of %d bytes", len(bytes)), systemErr, err)
		if m != n {
			p.t.Fatalf("seed %d: Write of %d bytes wrote %d on the system, %d in the simulation", p.seed,
				len(bytes), m, n)
		}
	case 3, 4, 5:
		a, b := make([]byte, r.IntN(2000)), make([]byte, 2000)
		b = b[:len(a)]
		offset := r.Int64N(3000)
		m, systemErr := f.system.ReadAt(a, offset)
		n, err := f.simulated.ReadAt(b, offset)
		p.same(fmt.Sprintf("ReadAt of %d bytes at %d", len(a), offset), systemErr, err)
		if m != n || !slices.Equal(a[:m], b[:n]) {
			p.t.Fatalf("seed %d: ReadAt read %d bytes on the system, %d in the simulation, or the bytes "+
				"differ", p.seed, m, n)
		}
	case 6, 7:
		size, err := f.simulated.ReadAt(make([]byte, 9000), 0)
		if err != io.EOF || size == 0 {
			return
		}
		offset := r.IntN(size)
		bytes := randomBytes(r, 1+r.IntN(min(size-offset, 1500)))
		m, systemErr := f.system.WriteAt(bytes, int64(offset))
		n, err := f.simulated.WriteAt(bytes, int64(offset))
		p.same(fmt.Sprintf("WriteAt of %d bytes at %d", len(bytes), offset), systemErr, err)
		if m != n {
			p.t.Fatalf("seed %d: WriteAt of %d bytes wrote %d on the system, %d in the simulation", p.seed,
				len(bytes), m, n)
		}
	case 8:
		p.same("Sync of a file", f.system.Sync(), f.simulated.Sync())
	default:
		p.same("Close", f.system.Close(), f.simulated.Close())
		f.closed = true
	}
}

func randomBytes(r *rand.Rand, n int) []byte {
	bytes := make([]byte, n)
	for i := range bytes {
		bytes[i] = byte(r.Uint32())
	}
	return bytes
}

// opened compares the errors of a call that opens a file. If the call succeeded, opened keeps the two files.
func (p *pair) opened(operation string, a, b disk.File, systemErr, err error) {
	p.same(operation, systemErr, err)
	if err != nil {
		return
	}
	p.files = append(p.files, pairFile{system: a, simulated: b})
	if len(p.files) > 12 {
		if oldest := p.files[0]; !oldest.closed {
			p.same("Close", oldest.system.Close(), oldest.simulated.Close())
		}
		p.files = p.files[1:]
	}
}

// closeForWindows closes all files on Windows, which cannot rename or remove open files.
func (p *pair) closeForWindows() {
	if runtime.GOOS == "windows" {
		p.closeAll()
	}
}

func (p *pair) closeAll() {
	for _, f := range p.files {
		if !f.closed {
			p.same("Close", f.system.Close(), f.simulated.Close())
		}
	}
	p.files = nil
}

// same fails the test if the two errors are of different kinds.
func (p *pair) same(operation string, system, simulated error) {
	p.t.Helper()
	a, b := kind(system), kind(simulated)
	if a != b {
		p.t.Fatalf("seed %d: %s returned %v on the system, and %v in the simulation", p.seed, operation,
			system, simulated)
	}
	p.seen[a]++
}

// kind returns the part of an error on which a caller may rely.
func kind(err error) string {
	switch {
	case err == nil:
		return "<nil>"
	case err == io.EOF:
		return "end of file"
	case errors.Is(err, fs.ErrExist):
		return "exists"
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "not permitted"
	case errors.Is(err, fs.ErrClosed):
		return "closed"
	case errors.Is(err, fs.ErrInvalid):
		return "invalid"
	}
	return err.Error()
}
