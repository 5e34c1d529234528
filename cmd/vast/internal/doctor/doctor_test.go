package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vastgo/vast/vm"
)

// gib is a function, because a constant does not compile if int has 32 bits.
func gib(n int) int { return n << 30 }

var healthy = vm.Facts{PageSize: 4096, HugePageSize: 2 << 20, HugeMode: "madvise", MaxMappings: 65530,
	CommitLimit: gib(8)}

var checkNames = []string{"page size", "huge pages", "overcommit", "mappings", "address space",
	"writable memory", "memory limit", "budget", "written pages", "largest region", "system calls"}

func TestExamine(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("the sizes do not fit in an int")
	}
	for _, c := range []struct {
		what    string
		change  func(m *machine)
		check   string // the check that is not ok, or "" if all checks are ok
		value   string
		verdict string
		advice  string
	}{
		{"healthy", func(*machine) {}, "", "", "", ""},
		{"huge pages always", func(m *machine) { m.facts.HugeMode = "always" }, "", "", "", ""},
		{"huge pages never", func(m *machine) { m.facts.HugeMode, m.facts.HugePageSize = "never", 0 },
			"huge pages", "never", warn, "transparent_hugepage/enabled"},
		{"another system", func(m *machine) {
			f := &m.facts
			f.HugeMode, f.HugePageSize, f.OvercommitMode, f.MaxMappings = "unsupported", 0, -1, 0
		}, "", "", "", ""},
		{"overcommit always", func(m *machine) { m.facts.OvercommitMode = 1 }, "", "", "", ""},
		{"overcommit strict", func(m *machine) { m.facts.OvercommitMode = 2 },
			"overcommit", "2, strict: 8 GiB may be committed", warn, "vm.overcommit_ratio"},
		{"few mappings", func(m *machine) { m.facts.MaxMappings = 1000 },
			"mappings", "1000, of which 50 in use", warn, "vm.max_map_count=262120"},
		{"mappings taken", func(m *machine) { m.usage.Mappings = 40000 },
			"mappings", "65530, of which 40000 in use", bad, "vm.max_map_count=262120"},
		{"many addresses", func(m *machine) { m.facts.AddressLimit = gib(1024) }, "", "", "", ""},
		{"some addresses", func(m *machine) { m.facts.AddressLimit = gib(16) },
			"address space", "16 GiB", warn, "ulimit -v"},
		{"few addresses", func(m *machine) { m.facts.AddressLimit = gib(8) },
			"address space", "8 GiB", bad, "ulimit -v"},
		{"data", func(m *machine) { m.facts.DataLimit = gib(2) },
			"writable memory", "2 GiB, of which 64 MiB in use", warn, "ulimit -d"},
		{"little data", func(m *machine) { m.facts.DataLimit = gib(1) },
			"writable memory", "1 GiB, of which 64 MiB in use", bad, "ulimit -d"},
		{"control group", func(m *machine) { m.facts.ControlGroup = 512 << 20 },
			"memory limit", "512 MiB (control group)", warn, "-memory-limit of vast earth"},
		{"control group that slows down", func(m *machine) {
			m.facts.ControlGroup,
				m.facts.ControlGroupHigh = gib(2), gib(1)
		},
			"memory limit", "2 GiB (control group), slowed down above 1 GiB", warn, "VAST_LIMIT=75%"},
		{"budget below a control group", func(m *machine) {
			m.facts.ControlGroup, m.budget = gib(1),
				"512MiB"
		}, "", "", "", ""},
		{"budget", func(m *machine) { m.budget = "512MiB" }, "", "", "", ""},
		{"budget that is off", func(m *machine) { m.budget = "off" }, "", "", "", ""},
		{"large budget", func(m *machine) { m.facts.ControlGroup, m.budget = gib(1), "2GiB" },
			"budget", "2 GiB (VAST_LIMIT=2GiB)", warn, "share of that limit"},
		{"budget of zero", func(m *machine) { m.budget = "0" }, "budget", "0 B (VAST_LIMIT=0)", bad,
			"Nothing can be committed"},
		{"misspelt budget", func(m *machine) { m.budget = "2GB" },
			"budget", "invalid", bad, "512MiB"},
		{"huge pages disabled", func(m *machine) { m.facts.HugeMode, m.facts.HugePageSize = "disabled", 0 },
			"huge pages", "disabled for this process", warn, "PR_SET_THP_DISABLE"},
		{"sandbox", func(m *machine) {
			m.refused = []vm.Refusal{{Call: "mremap", Err: errors.New("not permitted"), Instead: "Copied."}}
		},
			"system calls", "mremap refused: not permitted (seccomp?)", warn, "Copied. To avoid this, " +
				"allow the call in the sandbox."},
		{"no memory", func(m *machine) {
			m.refused = []vm.Refusal{{Call: "mprotect", Err: errors.New("not permitted"), Instead: "None."}}
		},
			"system calls", "mprotect refused: not permitted (seccomp?)", bad, "None."},
		{"userfaultfd refused", func(m *machine) { m.written = errors.New("userfaultfd: not permitted") },
			"written pages", "found by comparison", warn, "userfaultfd: not permitted. Each checkpoint"},
		{"another system without the call", func(m *machine) {
			m.facts.OvercommitMode, m.written = -1, errors.New("no such call")
		}, "", "", "", ""},
		{"small regions", func(m *machine) { m.largest = gib(100) },
			"largest region", "100 GiB", warn, "capacities"},
		{"tiny regions", func(m *machine) { m.largest = gib(1) },
			"largest region", "1 GiB", bad, "16 GiB"},
		{"stand-in", func(m *machine) { m.facts.HeapStandIn, m.largest = true, gib(4) },
			"largest region", "4 GiB, Go heap memory", warn, "race detector"},
	} {
		m := machine{facts: healthy, usage: vm.Usage{Mappings: 50, Data: 64 << 20}, largest: gib(127 * 1024)}
		c.change(&m)
		checks := examine(m)
		var names []string
		for _, got := range checks {
			names = append(names, got.Check)
			if got.Value == "" {
				t.Errorf("%s: %s has no value", c.what, got.Check)
			}
			if got.Check != c.check {
				if got.Verdict != ok || got.Advice != "" {
					t.Errorf("%s: %+v, want ok", c.what, got)
				}
				continue
			}
			if got.Verdict != c.verdict || got.Value != c.value || !strings.Contains(got.Advice, c.advice) {
				t.Errorf("%s: %+v, want %q, %s and advice with %q", c.what, got, c.value, c.verdict, c.advice)
			}
		}
		if !slices.Equal(names, checkNames) {
			t.Errorf("%s: checks %q, want %q", c.what, names, checkNames)
		}
		for line := range strings.Lines(format(checks)) {
			if len(line) > 81 {
				t.Errorf("%s: a line of %d columns: %s", c.what, len(line)-1, line)
			}
		}
	}
}

func TestFormat(t *testing.T) {
	got := format([]Check{
		{"page size", "4 KiB", ok, ""},
		{"mappings", "1000, of which 50 in use", warn,
			"A column takes two or more, so there is no room for many worlds. As root: sysctl " +
				"vm.max_map_count=262120"},
	})
	want := `ok    page size         4 KiB
warn  mappings          1000, of which 50 in use
      A column takes two or more, so there is no room for many worlds. As root:
      sysctl vm.max_map_count=262120
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestRun(t *testing.T) {
	var out, problems bytes.Buffer
	status := Run([]string{"-json"}, &out, &problems)
	var report struct{ Checks []map[string]string }
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	want := 0
	var names []string
	for _, c := range report.Checks {
		names = append(names, c["check"])
		if len(c) != 4 || c["value"] == "" || (c["verdict"] == ok) != (c["advice"] == "") {
			t.Errorf("check %q", c)
		}
		if c["verdict"] == bad {
			want = 1
		}
	}
	// If a sandbox refuses several calls, the report has a check "system calls" for each of them.
	if names = slices.Compact(names); !slices.Equal(names, checkNames) || status != want ||
		problems.Len() > 0 {
		t.Errorf("checks %q, want %q; status %d, want %d; stderr %q", names, checkNames, status, want,
			problems.String())
	}

	out.Reset()
	if status := Run(nil, &out, &problems); status != want ||
		strings.Count(out.String(), "\n") < len(checkNames) ||
		!strings.Contains(out.String(), vm.Bytes(vm.PageSize())) {
		t.Errorf("status %d, output\n%s", status, out.String())
	}
}

func TestRunRejects(t *testing.T) {
	for _, args := range [][]string{{"-jsn"}, {"-json=maybe"}, {"everything"}, {"-json", "x"}} {
		var out, problems bytes.Buffer
		if status := Run(args, &out, &problems); status != 2 || out.Len() > 0 ||
			!strings.Contains(problems.String(), "usage: vast doctor") {
			t.Errorf("%q: status %d, stdout %q, stderr %q", args, status, out.String(), problems.String())
		}
	}
	var out, problems bytes.Buffer
	if status := Run([]string{"-h"}, &out, &problems); status != 0 ||
		!strings.Contains(problems.String(), "-json") {
		t.Errorf("-h: status %d, stderr %q", status, problems.String())
	}
	if status := Run(nil, brokenPipe{}, &problems); status != 1 ||
		!strings.Contains(problems.String(), "broken pipe") {
		t.Errorf("a broken pipe: status %d, stderr %q", status, problems.String())
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
