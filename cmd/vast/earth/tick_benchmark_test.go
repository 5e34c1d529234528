package earth

import (
	"runtime"
	"strconv"
	"testing"
)

// BenchmarkTick measures ticks of a world that has run for 60 ticks.
func BenchmarkTick(b *testing.B) {
	for _, travellers := range []int{100_000, 1_000_000} {
		for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
			b.Run("travellers="+strconv.Itoa(travellers)+"/workers="+strconv.Itoa(workers),
				func(b *testing.B) {
					e, err := New(Config{Travellers: travellers, Workers: workers})
					if err != nil {
						b.Fatal(err)
					}
					defer e.Close()
					tick(b, e, 60)
					before := e.changes
					for b.Loop() {
						tick(b, e, 1)
					}
					b.ReportMetric(float64(e.changes-before)/float64(b.N), "changes/op")
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*travellers), "ns/traveller")
				})
		}
	}
}
