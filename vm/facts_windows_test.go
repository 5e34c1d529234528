package vm

import (
	"os"
	"os/exec"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

func TestUsageFollowsCommit(t *testing.T) {
	b := onlyOS(t)
	const n, slack = 128 << 20, 32 << 20 // slack is for changes of Go's heap
	r := open(t, b, n, Options{})
	before := ReadUsage().Data
	must(t, r.Commit(0, n))
	must(t, r.Populate(0, n))
	if more := ReadUsage().Data - before; more < n-slack {
		t.Errorf("%s were committed, and %s more are in use", Bytes(n), Bytes(more))
	}
	must(t, r.Decommit(0, n))
	if more := ReadUsage().Data - before; more > slack {
		t.Errorf("everything is decommitted, and %s more are in use", Bytes(more))
	}
}

// TestJobLimit starts this test in a child process, which joins a job with a limit. The test process does not
// join the job, because a process cannot leave a job.
func TestJobLimit(t *testing.T) {
	const limit = 3 << 30
	job, err := windows.CreateJobObject(nil, nil)
	must(t, err)
	defer windows.CloseHandle(job)
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{JobMemoryLimit: limit}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_JOB_MEMORY
	bytes := uint32(unsafe.Sizeof(info))
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), bytes)
	must(t, err)
	if os.Getenv("VAST_IN_JOB") != "" {
		must(t, windows.AssignProcessToJobObject(job, windows.CurrentProcess()))
		if got := ReadFacts().ControlGroup; got != limit {
			t.Errorf("the limit is %s, want %s", Bytes(got), Bytes(limit))
		}
		return
	}
	info = windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	err = windows.QueryInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), bytes, nil)
	if err != nil || info.JobMemoryLimit != limit {
		t.Skip("this system does not keep the memory limit of a job:", info.JobMemoryLimit, err)
	}
	exe, err := os.Executable()
	must(t, err)
	child := exec.Command(exe, "-test.run=^TestJobLimit$", "-test.v")
	child.Env = append(os.Environ(), "VAST_IN_JOB=1")
	out, err := child.CombinedOutput()
	if t.Logf("%s", out); err != nil {
		t.Error(err)
	}
}
