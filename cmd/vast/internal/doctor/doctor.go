// Package doctor is the command `vast doctor`. The command shows the machine's limits for large regions of
// address space, and gives advice if a limit is too low.
package doctor

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/internal/written"
	"github.com/vastgo/vast/vm"
)

// Verdicts of a check.
const (
	ok   = "ok"
	warn = "warn" // default options are slow, or may fail later
	bad  = "bad"  // default options fail
)

// Check is one entry of the report.
type Check struct {
	Check   string `json:"check"`
	Value   string `json:"value"`
	Verdict string `json:"verdict"`
	Advice  string `json:"advice"` // what to do; empty if the verdict is ok
}

// Sizes in bytes. An int of 32 bits cannot hold the larger sizes.
const (
	// maxProbed is the largest region that Run tries to reserve: the user address space of a 64-bit machine
	// with four levels of page tables.
	maxProbed int64 = 128 << 40
	// defaultCapacity is the most address space that a container reserves by default.
	defaultCapacity int64 = 16 << 30
	// comfortable is enough address space for dozens of containers of default capacity.
	comfortable int64 = 1 << 40
	// minData is the memory that a program with a small world needs.
	minData int64 = 1 << 30
)

// defaultCapacityText is defaultCapacity in words.
const defaultCapacityText = "16 GiB"

// usualMappings is Linux's default for vm.max_map_count.
const usualMappings = 65530

// Run examines the machine and prints the report. It returns the exit status: 0 for success, 1 if a verdict
// is bad or the report cannot be written, 2 if the arguments are wrong.
func Run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("vast doctor", flag.ContinueOnError)
	flags.SetOutput(stderr)
	asJSON := flags.Bool("json", false, "print one JSON object")
	flags.Usage = func() {
		fmt.Fprint(stderr, "usage: vast doctor [-json]\n\nShows what this machine allows a program with "+
			"large regions of address space.\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return cli.Success
	} else if err != nil {
		return cli.Misuse
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "vast doctor: unexpected argument %q\n", flags.Arg(0))
		flags.Usage()
		return cli.Misuse
	}
	checks := examine(machine{vm.ReadFacts(), vm.ReadUsage(),
		vm.LargestReservation(int(min(maxProbed, math.MaxInt))), os.Getenv(vm.LimitVariable), vm.Refusals(),
		written.Supported()})
	var err error
	if *asJSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(struct {
			Checks []Check `json:"checks"`
		}{checks})
	} else {
		_, err = io.WriteString(stdout, format(checks))
	}
	if err != nil {
		return cli.Fail(stderr, "doctor", err, cli.Failure)
	}
	for _, c := range checks {
		if c.Verdict == bad {
			return cli.Failure
		}
	}
	return cli.Success
}

type machine struct {
	facts   vm.Facts
	usage   vm.Usage
	largest int    // bytes of the largest possible region
	budget  string // value of the environment variable VAST_LIMIT
	refused []vm.Refusal
	written error // why the kernel cannot find written pages; nil if the kernel can
}

func examine(m machine) []Check {
	f, u := m.facts, m.usage
	return append([]Check{
		{"page size", vm.Bytes(f.PageSize), ok, ""},
		hugePages(f),
		overcommit(f),
		mappings(f, u),
		addressLimit(f),
		dataLimit(f, u),
		controlGroup(f, m.budget),
		budget(f, m.budget),
		writtenPages(f, m.written),
		reservation(f, m.largest),
	}, systemCalls(m.refused)...)
}

func hugePages(f vm.Facts) Check {
	c := Check{"huge pages", f.HugeMode, ok, ""}
	if f.HugePageSize > 0 {
		c.Value += ", " + vm.Bytes(f.HugePageSize)
	}
	switch {
	case f.HugeMode == "never":
		c.Verdict = warn
		c.Advice = "Without huge pages, the first touch of memory takes several times as long. As root: " +
			"echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
	case f.HugeMode == "disabled":
		c.Value = "disabled for this process"
		c.Verdict = warn
		c.Advice = "Without huge pages, the first touch of memory takes several times as long. The parent " +
			"of the process disabled them (prctl PR_SET_THP_DISABLE): enable them in the settings of the " +
			"service manager, the container runtime or the wrapper."
	case f.HugeMode == "unsupported":
		c.Value = "none on this system"
	}
	return c
}

func overcommit(f vm.Facts) Check {
	switch f.OvercommitMode {
	case 0:
		return Check{"overcommit", "0, heuristic", ok, ""}
	case 1:
		return Check{"overcommit", "1, always", ok, ""}
	case 2:
		return Check{"overcommit", "2, strict: " + vm.Bytes(f.CommitLimit) + " may be committed", warn,
			"The limit covers the committed memory of all programs, even untouched memory. If commits " +
				"fail, raise vm.overcommit_ratio, add swap, or set vm.overcommit_memory=0."}
	}
	return Check{"overcommit", "no such mode on this system", ok, ""}
}

func mappings(f vm.Facts, u vm.Usage) Check {
	if f.MaxMappings == 0 {
		return Check{"mappings", "no limit known", ok, ""}
	}
	c := Check{"mappings", fmt.Sprintf("%d, of which %d in use", f.MaxMappings, u.Mappings), ok, ""}
	switch {
	case u.Mappings > f.MaxMappings/2:
		c.Verdict, c.Advice = bad, "More than half of the mappings are in use before any reservation."
	case f.MaxMappings < usualMappings:
		c.Verdict = warn
		c.Advice = "A column needs at least two mappings: the limit leaves no room for many worlds."
	default:
		return c
	}
	c.Advice += fmt.Sprintf(" As root: sysctl vm.max_map_count=%d", 4*usualMappings)
	return c
}

func addressLimit(f vm.Facts) Check {
	c := Check{"address space", "no limit (RLIMIT_AS)", ok, ""}
	if f.AddressLimit == 0 {
		return c
	}
	c.Value = vm.Bytes(f.AddressLimit)
	switch {
	case int64(f.AddressLimit) < defaultCapacity:
		c.Verdict = bad
	case int64(f.AddressLimit) < comfortable:
		c.Verdict = warn
	default:
		return c
	}
	c.Advice = "A container without a capacity reserves up to " + defaultCapacityText +
		" of address space. Lift RLIMIT_AS (ulimit -v unlimited; LimitAS= in systemd), or give containers " +
		"smaller capacities."
	return c
}

func dataLimit(f vm.Facts, u vm.Usage) Check {
	if f.DataLimit == 0 {
		return Check{"writable memory", "no limit (RLIMIT_DATA)", ok, ""}
	}
	c := Check{"writable memory", fmt.Sprintf("%s, of which %s in use", vm.Bytes(f.DataLimit),
		vm.Bytes(u.Data)), warn,
		"The limit counts all committed memory. Lift RLIMIT_DATA (ulimit -d unlimited; LimitDATA= in " +
			"systemd), or set a budget (VAST_LIMIT) below RLIMIT_DATA."}
	if int64(f.DataLimit-u.Data) < minData {
		c.Verdict = bad
	}
	return c
}

func controlGroup(f vm.Facts, budget string) Check {
	c := Check{"memory limit", "none (control group)", ok, ""}
	if f.ControlGroup > 0 {
		c.Value = vm.Bytes(f.ControlGroup) + " (control group)"
	}
	if f.ControlGroupHigh > 0 {
		c.Value += ", slowed down above " + vm.Bytes(f.ControlGroupHigh)
	}
	// If the environment sets a budget, the check "budget" compares that budget with the limit.
	if l, err := vm.ParseLimit(budget); f.ControlGroup > 0 && l == nil && err == nil {
		c.Verdict = warn
		c.Advice = "The kernel kills a process that exceeds the limit. Set a budget below the limit: " +
			"VAST_LIMIT=75% in the environment, vm.SetDefaultLimit or a vm.Limit in the program, " +
			"-memory-limit of vast earth."
	}
	return c
}

func budget(f vm.Facts, text string) Check {
	l, err := vm.ParseLimit(text)
	switch {
	case err != nil:
		return Check{"budget", "invalid", bad, err.Error()}
	case l == nil:
		return Check{"budget", "none (VAST_LIMIT)", ok, ""}
	}
	c := Check{"budget", vm.Bytes(l.Max()) + " (VAST_LIMIT=" + text + ")", ok, ""}
	switch {
	case l.Max() == 0:
		c.Verdict = bad
		c.Advice = "Nothing can be committed. If VAST_LIMIT is a share, GOMEMLIMIT leaves no memory for " +
			"regions: lower GOMEMLIMIT."
	case f.ControlGroup > 0 && l.Max() > f.ControlGroup:
		c.Verdict = warn
		c.Advice = "The limit of the control group is lower, and the kernel kills a process that exceeds " +
			"the limit. Use a share of that limit, such as VAST_LIMIT=75%."
	}
	return c
}

// writtenPages checks how package store finds the pages that were written since the last checkpoint.
func writtenPages(f vm.Facts, refused error) Check {
	const check = "written pages"
	if refused == nil {
		return Check{check, "found by the kernel (PAGEMAP_SCAN)", ok, ""}
	}
	if onLinux := f.OvercommitMode >= 0; !onLinux || f.HeapStandIn {
		return Check{check, "found by comparison: " + refused.Error(), ok, ""}
	}
	return Check{check, "found by comparison", warn, refused.Error() + ". Each checkpoint of package store " +
		"reads the whole world. To find written pages, the kernel must be Linux 6.7 or later, and a " +
		"sandbox must allow userfaultfd and the ioctl calls UFFDIO_* and PAGEMAP_SCAN."}
}

func systemCalls(refused []vm.Refusal) []Check {
	if len(refused) == 0 {
		return []Check{{"system calls", "all are allowed", ok, ""}}
	}
	var all []Check
	for _, r := range refused {
		verdict := warn
		if r.Call == "mmap" || r.Call == "mprotect" {
			verdict = bad
		}
		all = append(all, Check{"system calls", r.Call + " refused: " + r.Err.Error() + " (seccomp?)",
			verdict, r.Instead + " To avoid this, allow the call in the sandbox."})
	}
	return all
}

func reservation(f vm.Facts, largest int) Check {
	c := Check{"largest region", vm.Bytes(largest), ok, ""}
	switch {
	case f.HeapStandIn:
		c.Verdict = warn
		c.Value += ", Go heap memory"
		c.Advice = "This build cannot reserve address space (32 bits, WebAssembly, an unsupported system " +
			"or processor, or the race detector): a region is one allocation of its whole size. Give " +
			"containers small capacities."
	case int64(largest) < defaultCapacity:
		c.Verdict = bad
		c.Advice = "A container without a capacity reserves up to " + defaultCapacityText +
			": give containers smaller capacities, or lift RLIMIT_AS (ulimit -v unlimited)."
	case int64(largest) < comfortable:
		c.Verdict = warn
		c.Advice = "There is room for only a few containers of default capacity: give them smaller " +
			"capacities, or lift RLIMIT_AS (ulimit -v unlimited)."
	}
	return c
}

// format formats the checks, one line for each. The advice of a check is below the check, in lines of at most
// 80 columns.
func format(checks []Check) string {
	var b strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&b, "%-4s  %-16s  %s\n", c.Verdict, c.Check, c.Value)
		const indent, width = 6, 80
		column := 0
		for _, word := range strings.Fields(c.Advice) {
			switch {
			case column == 0:
				column = indent
				b.WriteString(strings.Repeat(" ", indent))
			case column+1+len(word) > width:
				column = indent
				b.WriteString("\n" + strings.Repeat(" ", indent))
			default:
				column++
				b.WriteByte(' ')
			}
			column += len(word)
			b.WriteString(word)
		}
		if column > 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
