package vm

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
)

// TestDefaultLimit: a region without Options.Limit keeps its default limit when the default changes.
func TestDefaultLimit(t *testing.T) {
	p, before := PageSize(), DefaultLimit()
	defer SetDefaultLimit(before)
	eachBackend(t, func(t *testing.T, backend backend) {
		l, own := NewLimit(3*p), NewLimit(math.MaxInt)
		old := open(t, backend, 9*p, Options{Limit: own})
		SetDefaultLimit(l)
		if DefaultLimit() != l {
			t.Error("the default is not the limit that was set")
		}
		a, b := open(t, backend, 8*p, Options{}), open(t, backend, 8*p, Options{Limit: own})
		must(t, b.Commit(0, 8*p))
		must(t, old.Commit(0, 8*p))
		must(t, a.Commit(0, 2*p))
		if l.Used() != 2*p || own.Used() != 16*p {
			t.Errorf("%d bytes of the default limit and %d of the own limit are used", l.Used(), own.Used())
		}
		if err := a.Commit(2*p, 2*p); !errors.Is(err, ErrLimit) || a.Committed() != 2*p {
			t.Errorf("a commit past the default limit: %v", err)
		}
		if _, err := mirrorOn(backend, 4*p, Options{}, origin{}); !errors.Is(err, ErrLimit) {
			t.Errorf("a mirror past the default limit: %v", err)
		}
		SetDefaultLimit(nil)
		c := open(t, backend, 8*p, Options{})
		must(t, c.Commit(0, 8*p))
		if err := a.Commit(2*p, 2*p); !errors.Is(err, ErrLimit) || l.Used() != 2*p {
			t.Errorf("%d bytes of the older limit are used, and a commit past it gave %v", l.Used(), err)
		}
	})
}

func TestLimitOfTheEnvironment(t *testing.T) {
	p := PageSize()
	for value, says := range map[string]string{
		"1000": "0 B of 1000 B (VAST_LIMIT=1000) are in use: raise the limit",
		"75 %": `VAST_LIMIT="75 %" is not understood: want bytes such as 512MiB, ` +
			`a share of the container's memory such as 75%, or off`,
		"limit": `VAST_LIMIT="limit" is not understood`,
	} {
		r := open(t, chosen(PagesAuto), p, Options{Limit: limitOf(value)})
		var e *Error
		if err := r.Commit(0, 1); !errors.Is(err, ErrLimit) || !errors.As(err, &e) ||
			!strings.Contains(e.Detail, says) {
			t.Errorf("%s: %v", value, err)
		}
	}
	for _, value := range []string{"", "off"} {
		if l := limitOf(value); l != nil {
			t.Errorf("%q is %v", value, l)
		}
	}
}

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "0B": 0, "1000000": 1000000, "64MiB": 64 << 20, "1KiB": 1 << 10, "1B": 1,
		"3GiB":                min(3<<30&math.MaxInt, math.MaxInt),
		"9223372036854775807": math.MaxInt, "9000000TiB": math.MaxInt,
	} {
		if strings.HasSuffix(text, "GiB") && math.MaxInt == math.MaxInt32 {
			want = math.MaxInt
		}
		l, err := ParseLimit(text)
		if err != nil || l == nil || l.Max() != want {
			t.Errorf("%q: %+v, %v, want %d", text, l, err, want)
		}
	}
	for _, text := range []string{"-1", "+1", "1.5GiB", "1GB", "1Gi", "GiB", "B", "1 MiB", "MiB1", "0%",
		"101%", "-5%", "+5%", "%", "1e9", "none",
		"9223372036854775808", "١", "1MiBB", "1KiMiB", " ", "1\n"} {
		if l, err := ParseLimit(text); err == nil || l != nil ||
			!strings.Contains(err.Error(), "VAST_LIMIT") {
			t.Errorf("%q: %+v, %v", text, l, err)
		}
	}
	if l, err := ParseLimit("off"); l != nil || err != nil {
		t.Errorf("off: %+v, %v", l, err)
	}
	l, err := ParseLimit("75%")
	if want := ContainerLimit(75); err != nil || (l == nil) != (want == nil) || l != nil &&
		(l.Max() != want.Max() || l.wrong != want.wrong) {
		t.Errorf("75%%: %+v, %v, want %+v", l, err, want)
	}
}

func TestShareOf(t *testing.T) {
	const unit = 1 << 20
	for _, c := range []struct {
		what    string
		percent int
		facts   Facts
		goHeap  int64
		want    int
	}{
		{"a control group", 75, Facts{ControlGroup: 400 * unit, Memory: 2000 * unit}, math.MaxInt64,
			300 * unit},
		{"a group with a high limit", 50, Facts{ControlGroup: 400 * unit, ControlGroupHigh: 200 * unit,
			Memory: 2000 * unit}, math.MaxInt64, 100 * unit},
		{"a group larger than the machine", 100, Facts{ControlGroup: 400 * unit, Memory: 200 * unit},
			math.MaxInt64, 200 * unit},
		{"with a limit for the Go heap", 100, Facts{ControlGroup: 400 * unit}, 100 * unit, 300 * unit},
		{"a share with a limit for the Go heap", 50, Facts{ControlGroup: 400 * unit}, 100 * unit, 150 * unit},
		{"a machine", 25, Facts{Memory: 400 * unit}, math.MaxInt64, 100 * unit},
	} {
		l := shareOf(c.percent, c.facts, c.goHeap)
		if l == nil || l.Max() > c.want || l.Max() < c.want-100 || l.wrong != "" {
			t.Errorf("%s: %+v, want %d", c.what, l, c.want)
		}
	}
	if l := shareOf(75, Facts{}, math.MaxInt64); l != nil {
		t.Errorf("with unknown memory: %+v", l)
	}
	all := shareOf(75, Facts{ControlGroup: 400 * unit}, 400*unit)
	r := open(t, chosen(PagesAuto), PageSize(), Options{Limit: all})
	if err := r.Commit(0, 1); !errors.Is(err, ErrLimit) ||
		!strings.Contains(err.Error(), "GOMEMLIMIT gives all of the 400 MiB") {
		t.Errorf("with all memory for the Go heap: %v", err)
	}
	for _, percent := range []int{0, 101, -1} {
		if got := modeltest.PanicText(func() { ContainerLimit(percent) }); !strings.Contains(got,
			"a share is 1 to 100 percent") {
			t.Errorf("%d percent: %q", percent, got)
		}
	}
}
