package doctor

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/seccomptest"
	"github.com/vastgo/vast/vm"
	"golang.org/x/sys/unix"
)

func TestRunInASandbox(t *testing.T) {
	seccomptest.Child(t, func(t *testing.T) {
		writtenPagesRefused := `warn  written pages     found by comparison
      userfaultfd: operation not permitted (seccomp?). Each checkpoint of
`
		if vm.HeapStandIn() {
			writtenPagesRefused = "ok    written pages     " +
				"found by comparison: regions are Go heap memory here\n"
		}
		var out, problems bytes.Buffer
		if status := Run(nil, &out, &problems); status > 1 || problems.Len() > 0 {
			t.Errorf("status %d, %s", status, problems.String())
		}
		for _, want := range []string{
			`warn  system calls      prctl(PR_SET_VMA) refused: function not implemented (seccomp?)
      Regions have no names in /proc/self/maps; counters still have the names.
      To avoid this, allow the call in the sandbox.
`,
			`warn  system calls      memfd_create refused: operation not permitted (seccomp?)
      Nothing is lost: rings are mapped by mremap. To avoid this, allow the call
      in the sandbox.
`,
			writtenPagesRefused} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("want\n%s\nin\n%s", want, out.String())
			}
		}
	}, seccomptest.Rule{Call: unix.SYS_USERFAULTFD, Errno: unix.EPERM},
		seccomptest.Rule{Call: unix.SYS_MEMFD_CREATE, Errno: unix.EPERM},
		seccomptest.Rule{Call: unix.SYS_PRCTL, Argument: 1, Value: unix.PR_SET_VMA, Errno: unix.ENOSYS})
}
