package vm

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestShortage(t *testing.T) {
	const unit = 1 << 26 // so that 11*unit fits in an int of 32 bits
	roomy := Facts{MaxMappings: 65530, HugePageSize: 2 << 20, Memory: 8 * unit, Swap: 2 * unit,
		CommitLimit: 6 * unit}
	used := Usage{Mappings: 100, AddressSpace: 3 * unit, Data: unit, CommitCharge: 5 * unit}
	with := func(change func(f *Facts, u *Usage)) (Facts, Usage) {
		f, u := roomy, used
		change(&f, &u)
		return f, u
	}
	for _, c := range []struct {
		what   string
		op     string
		n      int
		change func(f *Facts, u *Usage)
		want   error
		says   string
	}{
		{"mappings", "commit", unit, func(_ *Facts, u *Usage) { u.Mappings = 65528 }, ErrMappings,
			"65528 of 65530: raise vm.max_map_count"},
		{"mappings before all else", "reserve", unit,
			func(f *Facts, u *Usage) { u.Mappings, f.AddressLimit = 65530, unit }, ErrMappings,
			"vm.max_map_count"},
		{"three mappings left", "decommit", unit, func(_ *Facts, u *Usage) { u.Mappings = 65527 }, nil, ""},
		{"addresses", "reserve", unit, func(f *Facts, _ *Usage) { f.AddressLimit = 4*unit - 1 },
			ErrAddressSpace, "192 MiB of the 256 MiB that RLIMIT_AS allows"},
		{"addresses for the alignment", "reserve", unit,
			func(f *Facts, _ *Usage) { f.AddressLimit = 4*unit + 1<<20 }, ErrAddressSpace, "RLIMIT_AS"},
		{"no limit exceeded", "reserve", unit, func(f *Facts, _ *Usage) { f.AddressLimit = 5 * unit },
			ErrAddressSpace, "192 MiB of addresses are taken: reserve less"},
		{"addresses do not matter to commits", "commit", unit,
			func(f *Facts, _ *Usage) { f.AddressLimit = unit }, nil, ""},
		{"data", "commit", unit, func(f *Facts, _ *Usage) { f.DataLimit = 2*unit - 1 }, ErrDataLimit,
			"64 MiB of the 128 MiB that RLIMIT_DATA allows"},
		{"data fits", "commit", unit, func(f *Facts, _ *Usage) { f.DataLimit = 2 * unit }, nil, ""},
		{"data does not matter to reserving", "reserve", unit,
			func(f *Facts, _ *Usage) { f.DataLimit = unit }, ErrAddressSpace, "reserve less"},
		{"strict overcommit", "commit", unit, func(f *Facts, _ *Usage) { f.OvercommitMode = 2 },
			ErrCommitCharge, "promised 320 MiB of 384 MiB (vm.overcommit_memory=2): raise " +
				"vm.overcommit_ratio"},
		{"one large request", "commit", 11 * unit, func(*Facts, *Usage) {}, ErrOvercommit,
			"the machine has 640 MiB with swap"},
		{"one large request, mode 1", "commit", 11 * unit, func(f *Facts, _ *Usage) { f.OvercommitMode = 1 },
			nil, ""},
		{"unexplained", "populate", unit, func(*Facts, *Usage) {}, nil, ""},
		{"nothing known", "commit", unit, func(f *Facts,
			u *Usage) {
			*f, *u = Facts{OvercommitMode: 1}, Usage{}
		}, nil, ""},
	} {
		f, u := with(c.change)
		detail, got := shortage(c.op, c.n, f, u)
		if got != c.want || !strings.Contains(detail, c.says) || got == nil && detail != "" {
			t.Errorf("%s: %v (%q), want %v (%q)", c.what, got, detail, c.want, c.says)
		}
	}
}

func TestExplainKeepsOtherErrors(t *testing.T) {
	if detail, got := (osBackend{}).explain("commit", 1, unix.EACCES); !errors.Is(got, unix.EACCES) ||
		detail != "" {
		t.Errorf("EACCES is explained as %v, %q", got, detail)
	}
	if detail, got := (osBackend{}).explain("reserve", 1, unix.EAGAIN); !errors.Is(got, unix.EAGAIN) ||
		!strings.Contains(detail, "RLIMIT_MEMLOCK") {
		t.Errorf("EAGAIN of a reservation is explained as %v, %q", got, detail)
	}
	if detail, got := (osBackend{}).explain("populate", 1, unix.ENOMEM); !errors.Is(got, unix.ENOMEM) ||
		detail == "" {
		t.Errorf("ENOMEM without a cause is explained as %v, %q", got, detail)
	}
}
