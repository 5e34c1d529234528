package vm

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/seccomptest"
	"golang.org/x/sys/unix"
)

func init() {
	children["descriptors"] = noDescriptors
	children["mremap refused"] = mremapRefused
	children["memfd refused"] = memfdRefused
	children["both refused"] = bothRefused
	children["no descriptor for a memfd"] = noDescriptorForMemfd
	children["mirror address space"] = mirrorAddressSpace
	children["no file sizes"] = noFileSizes
}

// TestMirrorMemoryIsOnce: the two halves share their pages. In each half, the kernel's Pss counts 50 % of a
// shared page.
func TestMirrorMemoryIsOnce(t *testing.T) {
	p := PageSize()
	m := openMirror(t, onlyOS(t), 64*p, Options{Name: "twice"})
	first, second := halves(m)
	for i := range 64 {
		if n, err := m.Resident(); err != nil || n != i*p {
			t.Fatalf("%d pages touched: %d bytes are resident, %v", i, n, err)
		}
		first[i*p+i] = byte(i + 1)
		if second[i*p+i] != byte(i+1) {
			t.Fatalf("page %d differs", i)
		}
	}
	sum, _ := smaps(t, m.r)
	touched := 64 * systemPage
	if sum["Pss"] != touched || sum["Rss"] != 2*touched || sum["mappings"] != 2 {
		t.Errorf("smaps says %d proportional and %d resident bytes in %d mappings, want %d and %d in 2",
			sum["Pss"], sum["Rss"], sum["mappings"], touched, 2*touched)
	}
	if got := find(t, "twice", true); got.Resident != 64*p {
		t.Errorf("counted as %+v", got)
	}
	must(t, m.Close())
	if n := mincore(t, m.r, 0, 2*64*p); n != 0 {
		t.Errorf("a closed mirror has %d bytes in memory", n)
	}
}

func TestMirrorsKeepNothing(t *testing.T) {
	backend := onlyOS(t)
	openMirror(t, backend, PageSize(), Options{}).Close()
	mappings, used, files := ReadUsage().Mappings, mappingsUsed.Load(), openFiles(t)
	for i := range 200 {
		openMirror(t, backend, PageSize()<<(i%5), Options{}).Close()
	}
	if n := mappingsUsed.Load(); n != used {
		t.Errorf("%d mappings are counted, want %d as before", n, used)
	}
	if n := ReadUsage().Mappings; n > mappings+20 {
		t.Errorf("the process has %d mappings, want about %d as before", n, mappings)
	}
	if n := openFiles(t); n > files {
		t.Errorf("%d files are open, want %d as before", n, files)
	}
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}

// refuse makes a system call fail in all threads. If onlyZero is true, the call fails only if its second
// argument is zero.
func refuse(call uint32, onlyZero bool, errno unix.Errno) {
	rule := seccomptest.Rule{Call: call, Errno: errno}
	if onlyZero {
		rule.Argument = 2
	}
	done(seccomptest.Refuse(rule))
}

// mirrorIn makes a mirror in a child process. It checks that both halves hold the same bytes. If copied is
// true, mirrorIn checks that the halves are copies. Otherwise, it checks that they share memory.
func mirrorIn(child string, bytes int, copied bool) *Mirror {
	m, err := mirrorOn(osBackend{}, bytes, Options{Name: child}, origin{})
	done(err)
	check((m.Refused() != nil) == copied, "refused: %v", m.Refused())
	first, second := halves(m)
	for i := range first {
		if first[i] != 0 || second[i] != 0 { // check would allocate for each byte
			panic(fmt.Sprintf("byte %d is %d and %d at first", i, first[i], second[i]))
		}
	}
	first[1], second[2] = 1, 2
	m.Written(1, 1)
	m.Written(m.Size()+2, 1)
	check(second[1] == 1 && first[2] == 2, "the halves hold %d and %d", second[1], first[2])
	return m
}

// mapsFile reports whether the process maps the memfd of a mirror with this purpose.
func mapsFile(purpose string) bool {
	maps, err := os.ReadFile("/proc/self/maps")
	done(err)
	return strings.Contains(string(maps), "/memfd:vast: "+purpose)
}

func setFiles(n uint64) {
	done(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: n}))
}

func takeDescriptors() {
	time.Sleep(time.Nanosecond) // Go's runtime needs two descriptors for its first timer
	setFiles(20)
	for {
		if _, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			check(err == unix.EMFILE, "%v", err)
			return
		}
	}
}

// noDescriptors: a mirror needs no descriptor if mremap works.
func noDescriptors() {
	takeDescriptors()
	done(mirrorIn("files", mirrorBytes(), false).Close())
}

func mremapRefused() {
	mirrorIn("before", mirrorBytes(), false)
	check(!mapsFile("before"), "a memfd was made without need")
	refuse(unix.SYS_MREMAP, true, unix.EPERM) // only the second mapping is refused
	m := mirrorIn("after", mirrorBytes(), false)
	check(mapsFile("after"), "there is no memfd, although mremap is refused")
	done(m.Close())
	check(!mapsFile("after"), "the memfd of a closed mirror is still mapped")
}

func memfdRefused() {
	refuse(unix.SYS_MEMFD_CREATE, false, unix.ENOSYS)
	done(mirrorIn("mremap", mirrorBytes(), false).Close())
}

func bothRefused() {
	mirrorIn("before", mirrorBytes(), false)
	refuse(unix.SYS_MREMAP, true, unix.EPERM)
	refuse(unix.SYS_MEMFD_CREATE, false, unix.ENOSYS)
	m := mirrorIn("copied", mirrorBytes(), true)
	for _, part := range []string{"mremap: operation not permitted", "memfd_create: ",
		"function not implemented", "sandbox"} {
		wants(m.Refused(), ErrRefused, part)
	}
	base := m.Base()
	done(m.Close())
	// Later regions get the addresses of the failed attempts and of the mirror, and do not share memory.
	for range 3 {
		r := reserveIn("region", 2*mirrorBytes(), Options{})
		done(r.Commit(0, r.Size()))
		view(r)[0] = 1
		check(view(r)[mirrorBytes()] == 0, "a write to one half of a region appears in the other half")
		if r.Base() == base {
			return
		}
	}
	check(false, "no region gets the addresses of the closed mirror")
}

func noDescriptorForMemfd() {
	refuse(unix.SYS_MREMAP, false, unix.ENOSYS)
	takeDescriptors()
	before := Snapshot(false)
	limit := NewLimit(math.MaxInt)
	_, err := mirrorOn(osBackend{}, mirrorBytes(), Options{Name: "files", Limit: limit}, origin{})
	wants(err, ErrDescriptors, "RLIMIT_NOFILE")
	check(!errors.Is(err, ErrRefused) && limit.Used() == 0 &&
		len(Snapshot(false).Purposes) == len(before.Purposes), "a failed mirror is counted: %+v",
		Snapshot(false))
	done(unix.Close(19))
	done(mirrorIn("files", mirrorBytes(), false).Close())
	fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	check(err == nil && fd == 19, "the memfd is not closed: %v", err)
}

func mirrorAddressSpace() {
	const mib = 1 << 20
	setLimit(unix.RLIMIT_AS, ReadUsage().AddressSpace+300*mib)
	before := fmt.Sprint(Snapshot(false))
	_, err := mirrorOn(osBackend{}, 256*mib, Options{Name: "as"}, origin{})
	wants(err, ErrAddressSpace, "RLIMIT_AS")
	// Both halves fit, but not a third 120 MiB: a new mirror first maps its memory elsewhere.
	_, err = mirrorOn(osBackend{}, 120*mib, Options{Name: "as"}, origin{})
	wants(err, ErrAddressSpace, "RLIMIT_AS")
	check(fmt.Sprint(Snapshot(false)) == before, "a failed mirror is counted: %+v", Snapshot(false))
	done(mirrorIn("as", 16*mib, false).Close())
}

// noFileSizes: a mirror copies if its file would exceed RLIMIT_FSIZE, which would raise a signal.
func noFileSizes() {
	refuse(unix.SYS_MREMAP, false, unix.ENOSYS)
	setLimit(unix.RLIMIT_FSIZE, mirrorBytes()-1)
	m := mirrorIn("file size", mirrorBytes(), true)
	wants(m.Refused(), ErrRefused, "RLIMIT_FSIZE")
}

// TestMirrorShortage: the memory of a mirror is charged to the commit limit, but not to RLIMIT_DATA.
func TestMirrorShortage(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		facts Facts
		usage Usage
		want  error
	}{
		{Facts{AddressLimit: 10 * mib}, Usage{AddressSpace: 9*mib + 1}, ErrAddressSpace},
		{Facts{AddressLimit: 10 * mib, DataLimit: 1, OvercommitMode: 2},
			Usage{AddressSpace: 9 * mib, Data: 1}, ErrCommitCharge},
		{Facts{DataLimit: 1, OvercommitMode: 1}, Usage{Data: 1}, nil},
		{Facts{Memory: mib / 2, OvercommitMode: 0}, Usage{}, ErrOvercommit},
		{Facts{MaxMappings: 100}, Usage{Mappings: 99}, ErrMappings},
	} {
		if _, got := shortage("mirror", mib, c.facts, c.usage); got != c.want {
			t.Errorf("%+v, %+v: %v, want %v", c.facts, c.usage, got, c.want)
		}
	}
}
