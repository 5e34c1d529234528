package vm

import (
	"testing"
)

// BenchmarkFirstTouch commits memory and touches every small page, as a growing array does.
func BenchmarkFirstTouch(b *testing.B) {
	const bytes = 64 << 20
	for _, pages := range []Pages{PagesSmall, PagesHuge} {
		b.Run(pages.String(), func(b *testing.B) {
			r := open(b, onlyOS(b), bytes, Options{Pages: pages})
			commitAndTouch(b, r) // not measured, because the system must first find unused memory
			must(b, r.Decommit(0, bytes))
			b.SetBytes(bytes)
			for b.Loop() {
				commitAndTouch(b, r)
				must(b, r.Decommit(0, bytes))
			}
		})
	}
}

//go:noinline
func commitAndTouch(b *testing.B, r *Region) {
	must(b, r.Commit(0, r.Size()))
	fill(r, 0, r.Size())
}

// BenchmarkPopulate commits memory and lets the kernel touch every page.
func BenchmarkPopulate(b *testing.B) {
	const bytes = 64 << 20
	r := open(b, onlyOS(b), bytes, Options{Pages: PagesSmall})
	b.SetBytes(bytes)
	for b.Loop() {
		must(b, r.Commit(0, bytes))
		must(b, r.Populate(0, bytes))
		must(b, r.Decommit(0, bytes))
	}
}

// BenchmarkReserveClose opens and closes a region whose addresses come from the cache of closed regions.
func BenchmarkReserveClose(b *testing.B) {
	backend := onlyOS(b)
	for b.Loop() {
		r, err := reserveOn(backend, 64<<20, Options{Name: "bench"}, origin{})
		must(b, err)
		must(b, r.Close())
	}
}

// BenchmarkCommitStep commits and decommits 64 KiB without touching them.
func BenchmarkCommitStep(b *testing.B) {
	r := open(b, onlyOS(b), 64<<20, Options{Pages: PagesSmall})
	must(b, r.Commit(0, 1<<20))
	for b.Loop() {
		must(b, r.Commit(1<<20, 64<<10))
		must(b, r.Decommit(1<<20, 64<<10))
	}
}

// BenchmarkPages reads the states of all pages of three regions: one with every second page in memory, one
// with all small pages in memory, and one of huge pages.
func BenchmarkPages(b *testing.B) {
	const bytes = 256 << 20
	for _, o := range []struct {
		name  string
		step  int
		pages Pages
	}{{"every second", 2 * PageSize(), PagesSmall}, {"small", PageSize(), PagesSmall}, {"huge", PageSize(),
		PagesHuge}} {
		b.Run(o.name, func(b *testing.B) {
			r := open(b, onlyOS(b), bytes, Options{Pages: o.pages})
			must(b, r.Commit(0, bytes))
			for off := 0; off < bytes; off += o.step {
				view(r)[off] = 1
			}
			var runs []PageRun
			b.SetBytes(bytes)
			for b.Loop() {
				runs = pagesAgain(b, r, runs)
			}
			b.ReportMetric(float64(len(runs)), "runs")
		})
	}
}

//go:noinline
func pagesAgain(b *testing.B, r *Region, runs []PageRun) []PageRun {
	runs, err := r.Pages(0, r.Size(), runs[:0])
	must(b, err)
	return runs
}
