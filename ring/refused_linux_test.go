package ring

import (
	"bytes"
	"errors"
	"testing"

	"github.com/vastgo/vast/internal/seccomptest"
	"github.com/vastgo/vast/vm"
	"golang.org/x/sys/unix"
)

// TestRingInASandbox: a ring copies if the sandbox refuses both system calls that can map memory twice. An
// endless buffer maps no memory twice, and also works if the sandbox refuses madvise.
func TestRingInASandbox(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory in this build, and nothing is mapped")
	}
	moves := seccomptest.Rule{Call: unix.SYS_MREMAP, Errno: unix.EPERM}
	files := seccomptest.Rule{Call: unix.SYS_MEMFD_CREATE, Errno: unix.ENOSYS}
	advice := seccomptest.Rule{Call: unix.SYS_MADVISE, Errno: unix.EPERM}
	for _, c := range []struct {
		name   string
		rules  []seccomptest.Rule
		copies bool
	}{
		{"no mremap", []seccomptest.Rule{moves}, false},
		{"no memfd_create", []seccomptest.Rule{files}, false},
		{"neither, and no madvise", []seccomptest.Rule{moves, files, advice}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			seccomptest.Child(t, func(t *testing.T) {
				r, err := New(Options{Capacity: 1})
				if err != nil {
					t.Fatal(err)
				}
				if (r.Refused() != nil) != c.copies || c.copies && !errors.Is(r.Refused(), vm.ErrRefused) {
					t.Errorf("Refused returns %v", r.Refused())
				}
				sent := make([]byte, r.Cap()*3/4)
				for round := range 9 { // the writes pass the end of the memory
					for i := range sent {
						sent[i] = byte(i*7 + round)
					}
					if _, err := r.Write(sent); err != nil {
						t.Fatal(err)
					}
					if got, err := r.Peek(len(sent)); err != nil || !bytes.Equal(got, sent) {
						t.Fatalf("round %d: Peek returns other bytes than were written, or an error: %v",
							round, err)
					}
					r.Discard(len(sent))
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}

				page := vm.PageSize()
				e, err := NewEndless(EndlessOptions{Capacity: 4 * page, Step: page})
				if err != nil {
					t.Fatal(err)
				}
				b := make([]byte, page/2)
				for e.End() < int64(3*e.lapSize) {
					numbered(b, uint64(e.End()))
					if _, err := e.Append(b); err != nil {
						t.Fatal(err)
					}
					p, err := e.At(e.Start(), e.Len())
					if err != nil {
						t.Fatal(err)
					}
					verify(t, p, uint64(e.Start()))
					if err := e.Release(max(e.Start(), e.End()-int64(page))); err != nil {
						t.Fatal(err)
					}
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}, c.rules...)
		})
	}
}
