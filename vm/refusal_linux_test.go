//go:build !arm

package vm

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/seccomptest"
	"golang.org/x/sys/unix"
)

var (
	refusedNames    = seccomptest.Rule{Call: unix.SYS_PRCTL, Argument: 1, Value: unix.PR_SET_VMA}
	refusedAdvice   = seccomptest.Rule{Call: unix.SYS_MADVISE}
	refusedMoves    = seccomptest.Rule{Call: unix.SYS_MREMAP}
	refusedFiles    = seccomptest.Rule{Call: unix.SYS_MEMFD_CREATE}
	refusedResident = seccomptest.Rule{Call: unix.SYS_MINCORE}
	refusedFaults   = seccomptest.Rule{Call: unix.SYS_USERFAULTFD}
	refusedProc     = seccomptest.Rule{Call: unix.SYS_OPENAT}
	refusedLimits   = seccomptest.Rule{Call: unix.SYS_PRLIMIT64}
	refusedCommits  = seccomptest.Rule{Call: unix.SYS_MPROTECT, Argument: 3, Value: readWrite}
	refusedReserves = seccomptest.Rule{Call: unix.SYS_MMAP, Argument: 4, Value: reserveFlags}
)

func refusedKind(kind uint32) seccomptest.Rule {
	return seccomptest.Rule{Call: unix.SYS_MADVISE, Argument: 3, Value: kind}
}

// TestRefusedCalls uses regions in sandboxes that refuse optional calls. Sandboxes refuse with EPERM or
// ENOSYS.
func TestRefusedCalls(t *testing.T) {
	onlyOS(t)
	for _, c := range []struct {
		what  string
		rules []seccomptest.Rule
		told  string // the calls that Refusals reports
	}{
		{"nothing", nil, ""},
		{"names", []seccomptest.Rule{refusedNames}, "prctl(PR_SET_VMA)"},
		{"giving back", []seccomptest.Rule{refusedKind(unix.MADV_DONTNEED)}, "madvise(MADV_DONTNEED)"},
		{"populating", []seccomptest.Rule{refusedKind(unix.MADV_POPULATE_WRITE)},
			"madvise(MADV_POPULATE_WRITE)"},
		{"huge pages", []seccomptest.Rule{refusedKind(unix.MADV_HUGEPAGE), refusedKind(unix.MADV_NOHUGEPAGE),
			refusedKind(unix.MADV_COLLAPSE)},
			"madvise(MADV_HUGEPAGE) madvise(MADV_COLLAPSE)"},
		{"advice", []seccomptest.Rule{refusedAdvice},
			"madvise(MADV_DONTNEED) madvise(MADV_POPULATE_WRITE) madvise(MADV_HUGEPAGE) " +
				"madvise(MADV_COLLAPSE)"},
		{"moves", []seccomptest.Rule{refusedMoves}, "mremap"},
		{"files", []seccomptest.Rule{refusedFiles}, "memfd_create"},
		{"moves and files", []seccomptest.Rule{refusedMoves, refusedFiles}, "mremap memfd_create"},
		{"resident pages", []seccomptest.Rule{refusedResident}, "mincore"},
		{"faults in user space", []seccomptest.Rule{refusedFaults}, ""}, // regions do not need this call
		{"limits", []seccomptest.Rule{refusedLimits}, ""},
		{"the files of the kernel", []seccomptest.Rule{refusedProc}, ""},
		{"all", []seccomptest.Rule{refusedNames, refusedAdvice, refusedMoves, refusedFiles, refusedResident,
			refusedFaults, refusedLimits, refusedProc},
			"prctl(PR_SET_VMA) madvise(MADV_DONTNEED) madvise(MADV_POPULATE_WRITE) madvise(MADV_HUGEPAGE) " +
				"madvise(MADV_COLLAPSE) mincore mremap memfd_create"},
	} {
		for _, errno := range []unix.Errno{unix.EPERM, unix.ENOSYS} {
			rules := slices.Clone(c.rules)
			for i := range rules {
				rules[i].Errno = errno
			}
			t.Run(fmt.Sprintf("%s %s", c.what, unix.ErrnoName(errno)), func(t *testing.T) {
				seccomptest.Child(t, func(t *testing.T) {
					refused := func(r seccomptest.Rule) bool {
						return slices.ContainsFunc(rules, func(s seccomptest.Rule) bool {
							return s.Call == r.Call &&
								(s.Argument == 0 || s.Argument == r.Argument && s.Value == r.Value)
						})
					}
					liveRefused(t, refused, errno)
					var told []string
					for _, r := range Refusals() {
						told = append(told, r.Call)
						if !errors.Is(r.Err, errno) || !strings.HasSuffix(r.Instead, ".") {
							t.Errorf("%+v", r)
						}
					}
					want := c.told
					if HugePageSize() == 0 {
						want = strings.ReplaceAll(want, " madvise(MADV_HUGEPAGE) madvise(MADV_COLLAPSE)", "")
						want = strings.ReplaceAll(want, "madvise(MADV_HUGEPAGE) madvise(MADV_COLLAPSE)", "")
					}
					if got := strings.Join(told, " "); got != want {
						t.Errorf("refused: %s, want %s", got, want)
					}
				}, rules...)
			})
		}
	}
}

// TestUnknownKinds: Refusals does not report advice and options that an old kernel does not know.
func TestUnknownKinds(t *testing.T) {
	onlyOS(t)
	unknown := []seccomptest.Rule{refusedNames, refusedKind(unix.MADV_POPULATE_WRITE),
		refusedKind(unix.MADV_HUGEPAGE), refusedKind(unix.MADV_COLLAPSE)}
	for i := range unknown {
		unknown[i].Errno = unix.EINVAL
	}
	seccomptest.Child(t, func(t *testing.T) {
		if told := Refusals(); len(told) > 0 {
			t.Errorf("Refusals returned %+v", told)
		}
	}, unknown...)
}

// liveRefused runs the operations of regions and mirrors. refused reports whether the sandbox refuses a
// rule's call.
func liveRefused(t *testing.T, refused func(seccomptest.Rule) bool, errno unix.Errno) {
	facts = sync.OnceValue(ReadFacts) // read the facts again, under the rules of the sandbox
	p := PageSize()
	size := 64 * p
	if huge := HugePageSize(); huge > 0 {
		size = 2 * huge
	}
	before := fmt.Sprint(Snapshot(false))
	for _, pages := range []Pages{PagesAuto, PagesSmall, PagesHuge} {
		limit := NewLimit(size)
		r, err := reserveOn(osBackend{}, size, Options{Pages: pages, Limit: limit, Name: "refused"}, origin{})
		must(t, err)
		must(t, r.Commit(0, size))
		must(t, r.Huge(0, size))
		fill(r, 0, size)
		must(t, r.Collapse(0, size))
		n, err := r.Resident()
		var e *Error
		switch {
		case !refused(refusedResident):
			if err != nil || n != size {
				t.Errorf("%v: %d of %d bytes are resident: %v", pages, n, size, err)
			}
		case !errors.As(err, &e) || !errors.Is(err, errno) || !strings.Contains(e.Detail, "refuses mincore"):
			t.Errorf("%v: Resident returned %v", pages, err)
		}
		if _, err := r.Pages(0, size, nil); err != nil && !refused(refusedResident) {
			t.Errorf("%v: Pages: %v", pages, err)
		}
		must(t, r.Discard(p, size/2))
		if b := view(r); b[0] != 1 || b[p] != 0 || b[size/2] != 0 || b[size/2+p] != 1 {
			t.Errorf("%v: after Discard the bytes are %d, %d, %d, %d", pages, b[0], b[p], b[size/2],
				b[size/2+p])
		}
		checkNamed(t, r, refused)
		must(t, r.Decommit(size/2, size/2))
		if !faults(func() { view(r)[size/2+p] = 1 }) {
			t.Errorf("%v: a decommitted page is usable", pages)
		}
		must(t, r.Commit(size/2, size/2))
		if b := view(r)[size/2+p]; b != 0 {
			t.Errorf("%v: a decommitted byte is %d", pages, b)
		}
		switch err := r.Populate(size/2, 4*p); {
		case refused(refusedKind(unix.MADV_POPULATE_WRITE)):
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%v: Populate: %v", pages, err)
			}
		case err != nil && !errors.Is(err, errors.ErrUnsupported): // a kernel before 5.14
			t.Error(err)
		}
		must(t, r.Protect(0, p, ReadOnly))
		if !faults(func() { view(r)[0] = 2 }) {
			t.Errorf("%v: a ReadOnly page was written to", pages)
		}
		must(t, r.Protect(0, p, ReadWrite))
		must(t, r.Decommit(size/2, size/2))
		view(r)[5] = 55
		must(t, r.MovePages(r, size/2, 0, 8*p))
		if b := view(r); b[size/2+5] != 55 || limit.Used() != size/2 {
			t.Errorf("%v: the moved byte is %d, and %d bytes are used", pages, b[size/2+5], limit.Used())
		}
		must(t, r.Close())
		if limit.Used() != 0 {
			t.Errorf("%v: %d bytes are used after Close", pages, limit.Used())
		}
	}
	copied := refused(refusedMoves) && refused(refusedFiles)
	m := mirrorIn("refused", mirrorBytes(), copied)
	if copied && (!errors.Is(m.Refused(), ErrRefused) || !strings.Contains(m.Refused().Error(), "mremap") ||
		!strings.Contains(m.Refused().Error(), "memfd_create")) {
		t.Errorf("Mirror.Refused returned %v", m.Refused())
	}
	must(t, m.Close())
	if after := fmt.Sprint(Snapshot(false)); after != before {
		t.Errorf("the counts are %s, want %s as before", after, before)
	}
	runtime.GC() // Go's runtime must work under these rules, too
}

// checkNamed checks that all mappings of a region have the name "vast: refused", or that the kernel does not
// name mappings.
func checkNamed(t *testing.T, r *Region, refused func(seccomptest.Rule) bool) {
	t.Helper()
	if refused(refusedProc) || refused(refusedNames) {
		return
	}
	if sum, names := smaps(t, r); len(names) > 0 &&
		(len(names) != sum["mappings"] || slices.Compact(names)[0] != "[anon:vast: refused]") {
		t.Errorf("%d mappings have the names %q", sum["mappings"], names)
	}
}

// TestRefusedMemory: the error for a refused mmap or mprotect says that a sandbox refuses the call.
func TestRefusedMemory(t *testing.T) {
	onlyOS(t)
	for _, c := range []struct {
		rule seccomptest.Rule
		call string
	}{{refusedCommits, "mprotect"}, {refusedReserves, "mmap"}} {
		c.rule.Errno = unix.EPERM
		t.Run(c.call, func(t *testing.T) {
			if c.call == "mmap" && strconv.IntSize == 32 {
				t.Skip("32-bit systems reserve by another call, mmap2")
			}
			seccomptest.Child(t, func(t *testing.T) {
				before := fmt.Sprint(Snapshot(false))
				limit := NewLimit(1 << 30)
				r, err := reserveOn(osBackend{}, 1<<20, Options{Limit: limit}, origin{})
				if c.call == "mprotect" {
					must(t, err)
					err = r.Commit(0, 1<<20)
					if r.Committed() != 0 || limit.Used() != 0 || !faults(func() { view(r)[0] = 1 }) {
						t.Errorf("%d committed, %d used after a refused commit", r.Committed(), limit.Used())
					}
					must(t, r.Close())
				}
				var e *Error
				if !errors.Is(err, unix.EPERM) || !errors.As(err, &e) ||
					!strings.Contains(e.Detail, "(seccomp) or a security policy refuses "+c.call+": allow "+
						"it") {
					t.Errorf("got %v", err)
				}
				if after := fmt.Sprint(Snapshot(false)); after != before {
					t.Errorf("the counts are %s, want %s as before", after, before)
				}
				if told := Refusals(); len(told) != 1 || told[0].Call != c.call {
					t.Errorf("Refusals returned %+v", told)
				}
			}, c.rule)
		})
	}
}
