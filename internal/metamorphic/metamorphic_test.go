package metamorphic

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// streamOps is the number of operations in a stream.
const streamOps = 400

// TestStreams plays random streams in all configurations. The environment variable VAST_STREAMS sets the
// number of streams, and VAST_SEED sets the seed.
func TestStreams(t *testing.T) {
	streams, seed := longtest.Pick(2, 100), rand.Uint64()
	ops := streamOps
	if testing.Short() {
		streams = 1
		if longtest.Race {
			ops /= 2
		}
	}
	if n, err := strconv.Atoi(os.Getenv("VAST_STREAMS")); err == nil {
		streams = n
	}
	if s, err := strconv.ParseUint(os.Getenv("VAST_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("seed %d", seed)
	for i := range uint64(streams) {
		CheckAll(t, Random(rand.New(rand.NewPCG(seed, i)), ops))
	}
	t.Logf("%d streams of %d operations in %d configurations", streams, ops, len(Configurations()))
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("\x01\x40\x00\x02\x00\x00\x00\x04\x01\x00\x00\x00\x07\x00\x11\x02\x00\x00\x00\x00\x00" +
		"\x13\x00\x00\x00\x00\x00\x00\x12\x03\x00\x05\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ops := Decode(data[:min(len(data), 7*200)])
		if d := Compare(Configurations()[:4], ops); d != nil {
			t.Fatalf("%v\n%s", d, Print(ops, standard+"[:4]"))
		}
	})
}

func TestCoverage(t *testing.T) {
	type pair struct {
		storage fmt.Stringer
		pages   vm.Pages
	}
	pairs, others := map[pair]bool{}, map[[2]int]bool{}
	for _, c := range Configurations() {
		pairs[pair{c.Storage, c.Pages}] = true
		for i, v := range [4]int{c.Workers, int(c.Emptying), c.TrimEvery, c.RegroupEvery} {
			others[[2]int{i, v}] = true
		}
	}
	if len(pairs) != 16 || len(others) != 3+4+4+3 {
		t.Errorf("%d pairs of storage and pages and %d other values, want 16 and 14", len(pairs), len(others))
	}
	done := map[Verb]int{}
	for _, op := range Random(rand.New(rand.NewPCG(1, 2)), 10*streamOps) {
		done[op.Do]++
	}
	if len(done) != int(verbs) || done[Empty] == 0 {
		t.Errorf("a long stream has %d of %d verbs: %v", len(done), verbs, done)
	}
	// Each verb must have an effect: if Ask with other numbers takes its place, the results differ.
	for do := range verbs {
		ops := []Op{{New, 0, 2, 0}, {New, 0, 1, 0}, {Add, 0, 0, 1}, {Link, 0, 1, 0}, {Connect, 0, 1, 5}}
		a, _ := Play(Configuration{Workers: 1}, append(slices.Clone(ops), Op{do, 0, 0, 9}))
		b, _ := Play(Configuration{Workers: 1}, append(slices.Clone(ops), Op{Ask, 9, 9, 9}))
		if slices.Equal(a, b) {
			t.Errorf("the verb %v changes no result", do)
		}
	}
}

// TestTicksTell checks that the ticks of a stream end jobs, refuse jobs, and call each function of the
// observer.
func TestTicksTell(t *testing.T) {
	var out strings.Builder
	p := &player{Configuration: Configuration{Workers: 2}, out: &out}
	p.open()
	defer p.close()
	for i, op := range Random(rand.New(rand.NewPCG(5, 6)), streamOps) {
		p.at = i
		p.find()
		if op.Do != Empty {
			p.do(op)
		}
		p.told = p.told[:0]
	}
	for _, what := range []string{"ended {", "refused {", "left", "entered", "changed"} {
		if n := strings.Count(out.String(), what); n < 5 {
			t.Errorf("the output has %q %d times, want 5 times or more", what, n)
		} else {
			t.Logf("%q: %d times", what, n)
		}
	}
}

func TestShrink(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	ops := Random(r, 500)
	// A stream fails if it has these verbs in this order, and A of the Tick is above 5.
	needed := []Verb{New, Tick, Empty}
	ops[100].Do, ops[250], ops[400].Do = New, Op{Tick, 100, 1, 1}, Empty
	tries := 0
	fails := func(ops []Op) bool {
		tries++
		at := 0
		for _, op := range ops {
			if at < len(needed) && op.Do == needed[at] && (op.Do != Tick || op.A > 5) {
				at++
			}
		}
		return at == len(needed)
	}
	short := Shrink(ops, fails)
	if len(short) != 3 || short[0] != (Op{Do: New}) || short[1].Do != Tick || short[1].A <= 5 ||
		short[2] != (Op{Do: Empty}) {
		t.Errorf("the shrunk stream is %v, want New, Tick with A above 5, and Empty", short)
	}
	if tries > 2000 {
		t.Errorf("Shrink needs %d tries, want at most 2000", tries)
	}
}

type panicking struct{ Column }

func (panicking) Add(vast.Entity, uint64) bool { panic("too much") }

// TestPanicFails checks that a panic is a failure even if all configurations panic in the same way.
func TestPanicFails(t *testing.T) {
	c := Configuration{Workers: 1, Wrap: func(c Column) Column { return panicking{c} }}
	ops := []Op{{Do: New}, {Do: Tag}, {Do: Add}, {Do: Ask}}
	if d := Compare([]Configuration{c, c}, ops); d == nil || d.Operation != 2 || d.Panic != "too much" ||
		!strings.Contains(d.String(), "too much") {
		t.Errorf("Compare returned %v, want a panic in operation 2", d)
	}
	if d := Compare([]Configuration{c, c}, ops[:2]); d != nil {
		t.Errorf("Compare of a stream without Add returned %v, want nil", d)
	}
}
