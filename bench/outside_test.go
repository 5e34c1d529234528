package main

import (
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestMain runs the tests. If outsideVariable is set, it measures one side instead. If fakeVariable is set,
// it acts as a program of the folder cpp, for TestCppSide.
func TestMain(m *testing.M) {
	if os.Getenv(fakeVariable) != "" {
		runFake(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	if status, asked := runOutside(os.Stdout, os.Stderr); asked {
		os.Exit(status)
	}
	must(quickEarth())
	os.Exit(m.Run())
}

func TestRowsOfCollectionsHoldTimes(t *testing.T) {
	for _, work := range []string{"gc_cycle", "gc_cpu", "gc_pause"} {
		plans, err := choose(work, "300", "")
		if err != nil {
			t.Fatal(err)
		}
		var got keeper
		if err := quick.measureAll(plans, &got, io.Discard); err != nil {
			t.Fatal(err)
		}
		for _, r := range got.rows {
			if r.OursNS <= 0 || r.PeerNS <= 0 || r.OursBytes != 0 || r.PeerBytes != 0 || r.Ratio <= 0 {
				t.Errorf("row %+v, want times of both sides and no bytes", r)
			}
		}
	}
}

func TestMemoryHoldsAtLeastTheComponents(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("resident memory can be read on Linux only")
	}
	for work, parts := range map[string]float64{"memory2comp": twoParts, "memory10comp": tenParts} {
		plans, err := choose(work, "40000", "")
		if err != nil {
			t.Fatal(err)
		}
		var got keeper
		if err := quick.measureAll(plans, &got, io.Discard); err != nil {
			t.Fatal(err)
		}
		if len(got.rows) != 7 {
			t.Errorf("%d rows, want 7", len(got.rows))
		}
		for _, r := range got.rows {
			// A component takes 16 bytes. A process can grow by less if the runtime also returns older memory
			// to the system.
			least, most := 16*parts*0.8, 16*parts*20
			if min(r.OursBytes, r.PeerBytes) < least || max(r.OursBytes, r.PeerBytes) > most ||
				r.OursNS != 0 {
				t.Errorf("row %+v, want %v to %v bytes per entity and no times", r, least, most)
			}
		}
	}
}

func TestFillersCount(t *testing.T) {
	for name, fill := range fillers {
		for _, parts := range []int{twoParts, tenParts} {
			if _, made := fill(70, parts); made != 70 {
				t.Errorf("%s: %d of 70 entities have %d components", name, made, parts)
			}
		}
	}
}

func TestBadOrders(t *testing.T) {
	for order, want := range map[string]string{
		"random":              "EOF",
		"random vast 3":       "no such work or side",
		"gc_pause flecs 3":    "no such work or side",
		"gc_pause vast three": "expected integer",
	} {
		if _, err := measureOutside(order); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", order, err, want)
		}
	}
}
