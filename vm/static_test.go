package vm

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/fault"
)

type tank struct{ Armour, Fuel float64 }

func purposeStats(purpose string) PurposeStats {
	for _, s := range Snapshot(true).Purposes {
		if s.Purpose == purpose {
			return s
		}
	}
	return PurposeStats{}
}

func TestStatic(t *testing.T) {
	const n = 100_000
	before := purposeStats("static tank") // tables of earlier runs of this test are still open
	a, b := Static[tank](n), Static[tank](n)
	if len(a) != n || cap(a) != n || len(b) != n {
		t.Fatalf("the tables have %d and %d elements, and the first has capacity %d; want %d", len(a), len(b),
			cap(a), n)
	}
	a[0], a[n-1] = tank{1, 2}, tank{3, 4}
	for i, v := range b {
		if v != (tank{}) {
			t.Fatalf("element %d of the other table is %v", i, v)
		}
	}
	if a[0] != (tank{1, 2}) || a[1] != (tank{}) || a[n-1] != (tank{3, 4}) {
		t.Errorf("elements 0, 1 and %d are %v, %v and %v", n-1, a[0], a[1], a[n-1])
	}
	s := purposeStats("static tank")
	bytes := 2 * roundUp(n*int(unsafe.Sizeof(tank{})), PageSize())
	if s.Regions-before.Regions != 2 || s.Committed-before.Committed != bytes ||
		s.Reserved-before.Reserved != bytes || s.Leaked != 0 {
		t.Errorf("Snapshot counts %+v after two tables and %+v before, want %d bytes more", s, before, bytes)
	}
}

func TestStaticEmpty(t *testing.T) {
	if s := Static[struct{ A uint16 }](0); s == nil || len(s) != 0 {
		t.Errorf("Static of 0 elements returns %#v, want an empty slice that is not nil", s)
	}
	if s := Static[struct{}](7); len(s) != 7 {
		t.Errorf("Static[struct{}](7) has %d elements", len(s))
	}
}

func TestStaticMisuse(t *testing.T) {
	panicOf := func(f func()) (r any) {
		defer func() { r = recover() }()
		f()
		return nil
	}
	for want, f := range map[string]func(){
		"vm: Static[tank](-1): a number of elements is zero or more": func() { Static[tank](-1) },
		"vm: Static[string]: string is a string":                     func() { Static[string](1) },
	} {
		if got := fmt.Sprint(panicOf(f)); !strings.HasPrefix(got, want) {
			t.Errorf("panicked with %q, want %q", got, want)
		}
	}
	before := fmt.Sprint(Snapshot(false))
	for _, n := range []int{math.MaxInt, math.MaxInt / 16, math.MaxInt / 32} {
		var e *Error
		if err, _ := panicOf(func() { Static[tank](n) }).(error); !errors.As(err, &e) ||
			!errors.Is(err, ErrSize) && !errors.Is(err, ErrAddressSpace) {
			t.Errorf("a table of %d elements panicked with %v", n, err)
		}
	}
	if after := fmt.Sprint(Snapshot(false)); after != before {
		t.Errorf("Snapshot returns %s after the failures and %s before", after, before)
	}
}

func TestStaticFails(t *testing.T) {
	for _, failing := range []string{"reserve", "commit"} {
		before := fmt.Sprint(Snapshot(false))
		stop := fault.Inject(func(op string) error {
			if op == failing {
				return errFaulty
			}
			return nil
		})
		func() {
			defer stop()
			defer func() {
				var e *Error
				if err, _ := recover().(error); !errors.As(err, &e) || e.Op != failing ||
					!errors.Is(err, errFaulty) {
					t.Errorf("when %s fails, Static panics with %v, want the injected failure", failing, err)
				}
			}()
			Static[tank](1000)
		}()
		if after := fmt.Sprint(Snapshot(false)); after != before {
			t.Errorf("Snapshot returns %s after the failure and %s before", after, before)
		}
	}
}
