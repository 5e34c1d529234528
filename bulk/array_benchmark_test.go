package bulk

import "testing"

// The timed loops are in functions that are not inlined, because b.Loop keeps the variables of its body
// alive, which slows loops in the body.

const benchmarkElements = 1_000_000

func BenchmarkArrayAppend(b *testing.B) {
	for b.Loop() {
		a, err := NewArray[record](Options{Capacity: benchmarkElements})
		if err != nil {
			b.Fatal(err)
		}
		appendMany(a, benchmarkElements)
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
	}
	perElement(b)
}

//go:noinline
func appendMany(a *Array[record], n int) {
	for i := range n {
		a.Append(record{0: uint64(i)})
	}
}

func BenchmarkArrayAt(b *testing.B) {
	a := newArray[record](b, Options{Capacity: benchmarkElements})
	appendMany(a, benchmarkElements)
	for b.Loop() {
		sumAt(a)
	}
	perElement(b)
}

//go:noinline
func sumAt(a *Array[record]) (sum uint64) {
	for i := range a.Len() {
		sum += a.At(i)[0]
	}
	return sum
}

func perElement(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/benchmarkElements, "ns/element")
}
