package soak

import (
	"slices"
	"testing"
)

func TestQuarters(t *testing.T) {
	var samples []figures
	for i := range 20 {
		samples = append(samples, figures{Mappings: i, Resident: 100 - i})
	}
	samples[0].Mappings = 1000 // an outlier
	first, last := quarters(samples)
	if first.Mappings != 3 || last.Mappings != 17 || first.Resident != 98 || last.Resident != 83 {
		t.Errorf("the quarters are %+v and %+v; want 3 and 17 mappings, and 98 and 83 bytes resident", first,
			last)
	}
	if first, last := quarters(nil); first != last {
		t.Error("the quarters of no samples differ")
	}
}

func TestJudge(t *testing.T) {
	names := func(gs []growth) (names []string) {
		for _, g := range gs {
			names = append(names, g.Figure)
		}
		return names
	}
	from := figures{Mappings: 200, Resident: 100 * mebibyte, Descriptors: 9, Goroutines: 2, Reserved: 1 << 30}
	for _, c := range []struct {
		change func(f *figures)
		want   []string
	}{
		{func(*figures) {}, nil},
		// Growth by exactly a twentieth plus the slack is allowed.
		{func(f *figures) { f.Mappings, f.Resident = 200+10+160, 113*mebibyte }, nil},
		{func(f *figures) { f.Mappings = 200 + 10 + 161 }, []string{"mappings"}},
		{func(f *figures) { f.Resident = 113*mebibyte + 1 }, []string{"resident memory"}},
		{func(f *figures) { f.Descriptors, f.Goroutines = 10, 3 },
			[]string{"file descriptors", "goroutines"}},
		{func(f *figures) { f.Reserved++ }, []string{"reserved memory"}},
		{func(f *figures) { *f = figures{} }, nil}, // a decrease is no growth
	} {
		to := from
		c.change(&to)
		if got := names(judge(from, to)); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", to, got, c.want)
		}
	}
	to := from
	to.Mappings, to.Leaked = 9999, 1
	if got := names(above(from, to)); !slices.Equal(got, []string{"leaked memory"}) {
		t.Errorf("above the baseline: %v, want only leaked memory", got)
	}
	base := from
	lower(&base, figures{Mappings: 1, Goroutines: 1, Descriptors: 20, Reserved: 5})
	if base.Mappings != 200 || base.Goroutines != 1 || base.Descriptors != 9 || base.Reserved != 5 {
		t.Errorf("the lowered baseline is %+v; want 200 mappings, 1 goroutine, 9 descriptors and 5 bytes "+
			"reserved", base)
	}
	if got := (growth{Figure: "regions", From: 1, To: 2}).String() +
		(growth{"mem", 1024, 2048, true}).String(); got !=
		"regions grew from 1 to 2"+"mem grew from 1 KiB to 2 KiB" {
		t.Error(got)
	}
}
