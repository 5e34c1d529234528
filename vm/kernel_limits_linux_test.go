package vm

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/childtest"
	"golang.org/x/sys/unix"
)

// childVariable is the environment variable that tells a child process which function of children it runs.
const childVariable = "VAST_VM_TEST_CHILD"

// children are functions for child processes. Each function limits or uses up resources of its process, and
// panics if a check fails.
var children = map[string]func(){
	"address space": limitedAddressSpace,
	"data":          limitedData,
	"mappings":      limitedMappings,
	"all mappings":  exhaustedMappings,
}

func TestMain(m *testing.M) {
	if child := children[os.Getenv(childVariable)]; child != nil {
		feedHeap()
		child()
		fmt.Println("child passed")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// feedHeap makes Go's heap take 24 MiB from the system, so that it need not grow under the limit on addresses
// or data. If it could not grow there, Go's runtime would end the process without a message about the test.
func feedHeap() {
	b := make([]byte, 24<<20)
	for i := 0; i < len(b); i += PageSize() {
		b[i] = 1
	}
	runtime.KeepAlive(b)
	b = nil
	runtime.GC()
}

func TestKernelLimits(t *testing.T) {
	onlyOS(t)
	childtest.Needed(t)
	for name := range children {
		t.Run(name, func(t *testing.T) {
			var out []byte
			var err error
			for try := range 5 {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), childVariable+"="+name)
				out, err = cmd.CombinedOutput()
				ended := strings.Contains(string(out), "fatal error: ") ||
					strings.Contains(string(out), "pthread_create failed")
				if name != "all mappings" || !ended || strings.Contains(string(out), "bad pointer") {
					break
				}
				t.Logf("Go's runtime needed a mapping when none was left (try %d of 5)", try+1)
			}
			if err != nil || !strings.Contains(string(out), "child passed") {
				t.Errorf("%v\n%s", err, out[:min(len(out), 8000)])
			}
		})
	}
}

func check(ok bool, format string, a ...any) {
	if !ok {
		panic(fmt.Sprintf(format, a...))
	}
}

func done(err error) { check(err == nil, "%v", err) }

func setLimit(which, bytes int) {
	done(unix.Setrlimit(which, &unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)}))
}

func reserveIn(child string, bytes int, o Options) *Region {
	o.Name = child
	r, err := reserveOn(osBackend{}, bytes, o, origin{})
	done(err)
	return r
}

// wants checks that an error wraps a sentinel and names the limit.
func wants(err, sentinel error, limit string) {
	var e *Error
	check(errors.Is(err, sentinel) && errors.As(err, &e) && strings.Contains(e.Detail, limit),
		"want %v naming %s, got: %v", sentinel, limit, err)
}

func limitedAddressSpace() {
	const mib = 1 << 20
	closed := reserveIn("as", 64*mib, Options{})
	setLimit(unix.RLIMIT_AS, ReadUsage().AddressSpace+300*mib)
	before := Snapshot(false)
	_, err := reserveOn(osBackend{}, 1<<30, Options{Name: "as"}, origin{})
	wants(err, ErrAddressSpace, "RLIMIT_AS")
	check(fmt.Sprint(Snapshot(false)) == fmt.Sprint(before), "a refused reservation is counted: %+v",
		Snapshot(false))
	r := reserveIn("as", 200*mib, Options{})
	done(r.Commit(0, 200*mib))
	view(r)[199*mib] = 1
	_, err = reserveOn(osBackend{}, 100*mib, Options{Name: "as"}, origin{})
	wants(err, ErrAddressSpace, "RLIMIT_AS")
	// New regions use the addresses of closed regions. RLIMIT_AS would refuse 150 MiB of new addresses.
	done(closed.Close())
	again := reserveIn("as", 60*mib, Options{})
	done(again.Commit(0, 60*mib))
	done(r.Close())
	done(reserveIn("as", 150*mib, Options{}).Commit(0, mib))
}

func limitedData() {
	const mib = 1 << 20
	limit := NewLimit(math.MaxInt)
	r := reserveIn("data", 1<<30, Options{Limit: limit})
	kept := reserveIn("data", 64*mib, Options{})
	done(kept.Commit(0, 64*mib))
	view(kept)[0] = 7
	// The limit leaves three steps of 64 MiB for the region, and 48 MiB for Go's runtime.
	setLimit(unix.RLIMIT_DATA, ReadUsage().Data+3*64*mib+48*mib)
	err := r.Commit(0, 512*mib)
	wants(err, ErrDataLimit, "RLIMIT_DATA")
	check(r.Committed() == 0 && limit.Used() == 0, "%d committed, %d used after a refused commit",
		r.Committed(), limit.Used())
	check(faults(func() { view(r)[0] = 1 }), "a page of a refused commit is usable")
	// If Commit cannot commit the second of two gaps, it decommits the first gap.
	done(r.Commit(100*mib, mib))
	wants(r.Commit(0, 512*mib), ErrDataLimit, "RLIMIT_DATA")
	check(r.Committed() == mib && faults(func() { view(r)[0] = 1 }), "the first of two gaps is committed")
	if HugePageSize() == 2*mib {
		done(r.Huge(202*mib, 10*mib)) // splits the range of the next commit into three mappings
		before := ReadUsage().Data
		wants(r.Commit(200*mib, 512*mib), ErrDataLimit, "RLIMIT_DATA")
		check(r.Committed() == mib && faults(func() { view(r)[200*mib] = 1 }) &&
			faults(func() { view(r)[204*mib] = 1 }),
			"a part of a refused commit is usable")
		check(ReadUsage().Data < before+512*mib, "a refused commit is charged")
	}
	done(r.Decommit(0, 1<<30))
	// Commit up to the limit, and commit again after another region has given memory back.
	off := 0
	for ; err == nil || off == 0; off += 64 * mib {
		if err = r.Commit(off, 64*mib); err != nil {
			break
		}
	}
	wants(err, ErrDataLimit, "RLIMIT_DATA")
	check(off == 3*64*mib && limit.Used() == off, "%d committed under the limit", off)
	view(r)[off-1] = 1
	done(kept.Close())
	done(r.Commit(off, 64*mib))
	view(r)[off] = 1
}

// limitedMappings takes as many mappings as regions may take, and checks that Go's runtime still works.
func limitedMappings() {
	p := PageSize()
	limit := NewLimit(math.MaxInt)
	most := ReadFacts().MaxMappings
	check(most > 0 && most < 10_000_000, "vm.max_map_count is %d", most)
	inUse := reserveIn("in use", 9*p, Options{})
	done(inUse.Commit(0, 9*p))
	view(inUse)[4*p] = 5
	r := reserveIn("mappings", 2*most*p, Options{Limit: limit, Pages: PagesSmall})
	var err error
	page := 1
	for ; page < 2*most; page += 2 {
		if err = r.Commit(page*p, p); err != nil {
			break
		}
	}
	wants(err, ErrMappings, "vm.max_map_count")
	check(r.Committed() == page/2*p && limit.Used() == r.Committed(),
		"%d bytes committed, %d used, want %d of each", r.Committed(), limit.Used(), page/2*p)
	check(faults(func() { view(r)[page*p] = 1 }), "a page of a refused commit is usable")
	have := ReadUsage().Mappings
	check(have > most*9/10 && have < most*19/20, "%d of %d mappings are taken", have, most)

	// A decommit that makes a hole is refused. So are new regions.
	err = nil
	wants(inUse.Decommit(3*p, 3*p), ErrMappings, "vm.max_map_count")
	check(inUse.Committed() == 9*p && view(inUse)[4*p] == 5, "a refused decommit changed the region")
	for i := 0; err == nil || i == 0; i++ {
		check(i < 3, "new regions are not refused at the mapping limit")
		_, err = reserveOn(osBackend{}, p, Options{Name: "one more"}, origin{})
	}
	wants(err, ErrMappings, "vm.max_map_count")
	if huge := HugePageSize(); huge > 0 && r.Size() >= 2*huge {
		r.m.pages = PagesAuto
		wants(r.Huge(0, 2*huge), ErrMappings, "vm.max_map_count")
	}

	// Go's runtime can still make stacks and grow its heap.
	garbage := make([][]byte, 0, 1000)
	for range 1000 {
		garbage = append(garbage, make([]byte, 256<<10))
	}
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(func() { runtime.Gosched() })
	}
	runtime.GC()
	wg.Wait()
	runtime.KeepAlive(garbage)

	// Operations that need no new mapping succeed. The other operations succeed after mappings were given
	// back.
	done(r.Commit((page-3)*p, 2*p))
	view(r)[(page-3)*p] = 1
	done(inUse.Decommit(8*p, p))
	done(inUse.Decommit(0, p))
	done(r.Decommit(p, 100*p))
	done(r.Commit((page+1)*p, p))
	view(r)[(page+1)*p] = 1
	done(inUse.Decommit(3*p, 3*p))
	done(r.Close())
	check(limit.Used() == 0, "%d used after Close", limit.Used())
	check(ReadUsage().Mappings < 1000, "%d mappings are left", ReadUsage().Mappings)
	done(reserveIn("after", 5*most*p, Options{}).Commit(0, 100*p))
}

// exhaustedMappings takes every mapping that the kernel allows, as another library might. The package does
// not count these mappings. Go's runtime may need a mapping at any moment, so exhaustedMappings first makes
// the runtime take much memory.
func exhaustedMappings() {
	p := PageSize()
	backend := osBackend{}
	most := ReadFacts().MaxMappings
	inUse := reserveIn("in use", 9*p, Options{})
	done(inUse.Commit(0, 9*p))
	view(inUse)[4*p] = 5
	untouched := reserveIn("untouched", p, Options{})
	spare := reserveIn("spare", 100*p, Options{})
	for page := 1; page < 100; page += 2 {
		done(spare.Commit(page*p, p))
	}
	// Huge splits the region into several mappings. The decommit below covers two and a half of them. It
	// fails, because it must split the third.
	huge := HugePageSize()
	var advised *Region
	if huge > 0 && huge <= 4<<20 {
		advised = reserveIn("advised", 5*huge, Options{})
		done(advised.Commit(0, 5*huge))
		done(advised.Huge(huge, huge))
		done(advised.Huge(3*huge, huge))
		view(advised)[huge], view(advised)[2*huge], view(advised)[3*huge] = 1, 2, 3
	}
	last := reserveIn("last", 20*p, Options{})
	done(last.Commit(0, 20*p))
	done(last.Protect(2*p, p, ReadOnly))
	filler, err := backend.reserve(2*most*p, p)
	done(err)
	debug.SetGCPercent(-1)
	runtime.KeepAlive(make([]byte, 32<<20))
	runtime.GC()
	for range 300 {
		_, _ = backend.explain("commit", p, unix.ENOMEM)
	}

	for page := 1; err == nil; page += 2 {
		check(page < 2*most, "the kernel allows any number of mappings")
		err = backend.commit(unsafe.Add(filler, page*p), p)
	}
	check(errors.Is(err, unix.ENOMEM), "%v", err)
	wants(inUse.Decommit(3*p, 3*p), ErrMappings, "vm.max_map_count")
	check(inUse.Committed() == 9*p && view(inUse)[4*p] == 5, "a refused decommit changed the region")
	wants(inUse.Protect(3*p, 3*p, ReadOnly), ErrMappings, "vm.max_map_count")
	view(inUse)[4*p] = 6
	if advised != nil {
		// The kernel may allow one more mapping. Each call of Protect makes a mapping, because neighbouring
		// pages get different access.
		for page := 3; last.Protect(page*p, p, NoAccess-Access(page+1)%2) == nil; page++ {
			check(page < 19, "protecting takes no mappings")
		}
		wants(advised.Decommit(huge, 2*huge+huge/2), ErrMappings, "vm.max_map_count")
		b := view(advised)
		check(!faults(func() { b[huge]++; b[2*huge]++; b[3*huge]++ }), "a refused decommit was done in part")
		check(advised.Committed() == 5*huge && b[huge] == 2 && b[2*huge] == 3 &&
			b[3*huge] == 4, "a refused decommit changed the region")
	}
	// mmap can make one mapping more than mprotect. After that mapping, mmap refuses even to replace
	// mappings.
	for i := 0; err == nil || i == 0; i++ {
		check(i < 100, "reservations do not count as mappings")
		// Neighbouring mappings get different access, so that the kernel does not join them.
		_, err = unix.MmapPtr(-1, 0, nil, uintptr(p), unix.PROT_READ*(i%2), reserveFlags)
	}
	err = (&mapping{be: backend, counted: &counter{}}).failed("reserve", p, err)
	wants(err, ErrMappings, "vm.max_map_count")
	done(untouched.Close())
	done(spare.Close())
	check(faults(func() { view(spare)[p] = 1 }), "a page of a closed region is usable")
	done(inUse.Decommit(3*p, 3*p))
	check(inUse.Committed() == 6*p, "%d committed", inUse.Committed())
	done(backend.reset(filler, 2*most*p))
}
