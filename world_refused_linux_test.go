package vast

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast/internal/seccomptest"
	"github.com/vastgo/vast/vm"
	"golang.org/x/sys/unix"
)

// TestWorldInASandbox runs the combined model while the kernel refuses the system calls that regions can do
// without.
func TestWorldInASandbox(t *testing.T) {
	var rules []seccomptest.Rule
	for _, call := range []uint32{unix.SYS_MADVISE, unix.SYS_MREMAP, unix.SYS_MEMFD_CREATE,
		unix.SYS_USERFAULTFD} {
		rules = append(rules, seccomptest.Rule{Call: call, Errno: unix.EPERM})
	}
	rules = append(rules, seccomptest.Rule{Call: unix.SYS_PRCTL, Argument: 1, Value: unix.PR_SET_VMA,
		Errno: unix.ENOSYS})
	seccomptest.Child(t, func(t *testing.T) {
		if !vm.HeapStandIn() && len(vm.Refusals()) < 4 {
			t.Errorf("vm.Refusals returns %+v, want at least 4 refusals", vm.Refusals())
		}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		for i, pages := range []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge} {
			o := combinedOptions{slots: 1 << 12, pages: pages, hooks: i == 0, roads: OnDelete(i)}
			newCombinedModel(t, o, io.Discard).run(randomStream(rand.New(rand.NewPCG(seed, uint64(i))),
				combinedBytes(5000)))
		}
	}, rules...)
}
