package vastarrow

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/childtest"
	"github.com/vastgo/vast/internal/invariants"
)

func TestReleasedRecordIsPoisoned(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("needs the build tag invariants")
	}
	f := newFixture(t)
	f.fill(t, 100)
	for _, r := range Records(f.Query(f.position), f.position) {
		values := r.Column(0).(*array.FixedSizeList).ListValues().(*array.Float64).Values()
		if values[2] != 1.0/3 {
			t.Error(values[2])
		}
		r.Release()
		if slices.Max(arrow.Float64Traits.CastToBytes(values)) != invariants.PoisonByte {
			t.Error("a released record is not poisoned")
		}
	}
}

func TestLateRelease(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("needs the build tag invariants")
	}
	f := newFixture(t)
	f.fill(t, 100)
	for name, late := range map[string]func(){
		"release": func() {
			var kept arrow.RecordBatch
			for _, r := range Records(f.Query(f.position), f.position) {
				kept = r
				break
			}
			f.Archetype(f.position).New()
			kept.Release()
		},
		"next step": func() {
			for _, r := range Records(f.Query(f.position).Between(0, 100), f.position) {
				f.Archetype(f.position).New()
				_ = r // is not released
			}
		},
	} {
		func() {
			defer func() {
				if recover() != lateRelease {
					t.Errorf("%s: no panic", name)
				}
			}()
			late()
		}()
	}
}

// TestRecordAfterTick runs a child process that keeps a record until World.Admit. The panic ends the child.
func TestRecordAfterTick(t *testing.T) {
	const variable = "VAST_TEST_KEEP_RECORD"
	if os.Getenv(variable) != "" {
		w := vast.NewWorld(vast.Options{MaxEntities: 64})
		col := vast.NewColumn[float64](w)
		w.Archetype(col).NewN(10, nil)
		for _, r := range Records(w.Query(col), col) {
			_ = r // is not released
		}
		for {
			w.Admit(time.Second)
		}
	}
	if !invariants.Enabled {
		t.Skip("needs the build tag invariants")
	}
	childtest.Needed(t)
	c := exec.Command(os.Args[0], "-test.run=^TestRecordAfterTick$", "-test.timeout=1m")
	c.Env = append(os.Environ(), variable+"=1")
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), lateRelease) {
		t.Errorf("%v: %s", err, out)
	}
}
