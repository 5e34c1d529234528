package seccomptest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestChild(t *testing.T) {
	t.Run("with rules", func(t *testing.T) {
		Child(t, func(t *testing.T) {
			for range 20 {
				done := make(chan struct{})
				go func() {
					defer close(done)
					if _, err := unix.Getpgid(0); err != unix.EXDEV {
						t.Errorf("getpgid returned %v, want %v", err, unix.EXDEV)
					}
					if err := unix.Prctl(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil {
						t.Errorf("a prctl without a rule returned %v", err)
					}
					if err := unix.Prctl(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != unix.EBADE {
						t.Errorf("a prctl with a rule returned %v, want %v", err, unix.EBADE)
					}
				}()
				<-done
			}
			if os.Getppid() <= 0 {
				t.Error("getppid, which has no rule, failed")
			}
		}, Rule{Call: unix.SYS_GETPGID, Errno: unix.EXDEV},
			Rule{Call: unix.SYS_PRCTL, Argument: 1, Value: unix.PR_GET_DUMPABLE, Errno: unix.EBADE})
	})
	if _, err := unix.Getpgid(0); err != nil && os.Getenv(variable) == "" {
		t.Errorf("getpgid of the parent returned %v", err)
	}
	t.Run("no rules", func(t *testing.T) {
		Child(t, func(t *testing.T) {
			if os.Getenv(variable) != t.Name() {
				t.Error("the function does not run in a child")
			}
		})
	})
}
