package metamorphic

import "fmt"

// Disagreement describes an operation after which two configurations have different results, or in which a
// configuration panics.
type Disagreement struct {
	Operation    int // index in the stream
	First, Other Configuration
	Panic        any // the panic value of Other, or nil
}

// String returns the operation, the configurations and the panic value, if any.
func (d *Disagreement) String() string {
	if d.Panic != nil {
		return fmt.Sprintf("operation %d panics: %v\n\t%v", d.Operation, d.Panic, d.Other)
	}
	return fmt.Sprintf("after operation %d, two configurations have different results:\n\t%v\n\t%v",
		d.Operation, d.First, d.Other)
}

// Compare plays a stream in all configurations, in order. It returns nil, or the first panic or difference
// from the results of cs[0].
func Compare(cs []Configuration, ops []Op) *Disagreement {
	var first []uint64
	for i, c := range cs {
		sums, panicked := Play(c, ops)
		if panicked != nil {
			return &Disagreement{len(sums), cs[0], c, panicked}
		}
		if i == 0 {
			first = sums
		}
		for at := range sums {
			if sums[at] != first[at] {
				return &Disagreement{at, cs[0], c, nil}
			}
		}
	}
	return nil
}

// T is the part of a *testing.T that this package needs.
type T interface {
	Helper()
	Fatalf(format string, a ...any)
}

// standard is the Go expression for the configurations of CheckAll.
const standard = "metamorphic.Configurations()"

// Check fails the test if the configurations disagree on a stream.
func Check(t T, cs []Configuration, ops []Op) {
	t.Helper()
	if d := Compare(cs, ops); d != nil {
		t.Fatalf("%v", d)
	}
}

// CheckAll is like Check with [Configurations]. If the configurations disagree, CheckAll shrinks the stream
// and prints it as a Go test.
func CheckAll(t T, ops []Op) {
	t.Helper()
	d := Compare(Configurations(), ops)
	if d == nil {
		return
	}
	short := Shrink(ops, func(ops []Op) bool { return Compare(Configurations(), ops) != nil })
	t.Fatalf("%v\nthe stream is shrunk to %d of %d operations:\n%v\n\n%s", d, len(short), len(ops),
		Compare(Configurations(), short), Print(short, standard))
}
