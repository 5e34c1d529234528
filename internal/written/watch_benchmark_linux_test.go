package written_test

import (
	"testing"

	"github.com/vastgo/vast/internal/written"
	"github.com/vastgo/vast/vm"
)

func gigabyte(b *testing.B, pages vm.Pages) *vm.Region {
	const n = 1 << 30
	r := reserve(b, n, vm.Options{Pages: pages})
	must(b, r.Commit(0, n))
	must(b, r.Populate(0, n))
	return r
}

var policies = map[string]vm.Pages{"small": vm.PagesSmall, "huge": vm.PagesHuge}

// protect scans until all blocks are protected.
func protect(b *testing.B, w *written.Watch, r *vm.Region) {
	for scans := 0; ; scans++ {
		w.Try(r.Size() / block)
		w.Scan()
		w.Keep()
		if _, loose := w.Blocks(); loose == 0 {
			return
		} else if scans > 100 {
			b.Fatalf("%d blocks are loose", loose)
		}
	}
}

func reportPerPage(b *testing.B, pagesPerRound int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(pagesPerRound), "ns/page")
}

// touch writes one byte of every nth page.
//
//go:noinline
func touch(b []byte, n int) {
	for i := 0; i < len(b); i += n * page {
		b[i]++
	}
}

// BenchmarkGigabyte measures the operations of a watch of 1 GiB. For comparison, it measures a copy of 1 GiB.
func BenchmarkGigabyte(b *testing.B) {
	for name, policy := range policies {
		b.Run(name, func(b *testing.B) {
			all := b
			w := begin(all)
			r := gigabyte(b, policy)
			m := view(r)
			w.Changed(r.Base(), len(m), nil)
			b.Run("protect", func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					must(b, w.Close())
					w = begin(all)
					touch(m, 1)
					w.Changed(r.Base(), len(m), nil)
					b.StartTimer()
					protect(b, w, r)
				}
			})
			b.Run("clean", func(b *testing.B) {
				for b.Loop() {
					w.Scan()
					w.Keep()
				}
			})
			b.Run("percent", func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					touch(m, 100)
					b.StartTimer()
					w.Scan()
					w.Keep()
				}
			})
			b.Run("first-writes", func(b *testing.B) { // to every hundredth page
				for b.Loop() {
					touch(m, 100)
					b.StopTimer()
					w.Scan()
					w.Keep()
					b.StartTimer()
				}
				reportPerPage(b, len(m)/page/100)
			})
			b.Run("first-writes-dense", func(b *testing.B) { // to adjacent pages
				part := m[:len(m)/8]
				for b.Loop() {
					b.StopTimer()
					protect(b, w, r)
					b.StartTimer()
					touch(part, 1)
				}
				reportPerPage(b, len(part)/page)
			})
			to := make([]byte, len(m))
			b.Run("copy", func(b *testing.B) {
				for b.Loop() {
					copy(to, m)
				}
			})
		})
	}
}
