package store

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/vastgo/vast"
)

// BenchmarkPause measures the pause that a checkpoint of a world of 256 MB needs. Before each checkpoint, 1 %
// of the pages are overwritten. The checkpoint copies everything, or only the changes. It finds the changes
// by a comparison of all memory, or by a question to the kernel.
func BenchmarkPause(b *testing.B) {
	const entities = 256 << 20 / int(unsafe.Sizeof(sample{}))
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 24})
	defer w.Close()
	c := vast.NewColumn[sample](w)
	p := &plain{w: w}
	w.Archetype(c).NewN(entities, func(run vast.Run) {
		p.all = c.Slice(run)
		for i := range p.all {
			p.all[i] = sample{uint64(i), 1, 2}
		}
	})
	r := rand.New(rand.NewPCG(1, 2))
	for _, way := range []string{"everything", "compared", "kernel"} {
		everything := way == "everything"
		b.Run(way, func(b *testing.B) {
			var s stage
			defer s.close()
			if way == "kernel" {
				if s.pages = newPages(); s.pages == nil {
					b.Skip("the system does not find written pages")
				}
			}
			take := func(number uint64) {
				picture, err := pictureOf(w, Options{}, &keptManifest{Number: number, Base: number - 1})
				if err == nil {
					err = s.take(picture, everything, false)
				}
				if err == nil {
					err = s.complete()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			// The first copies are not measured: they touch new memory, and pages become protected gradually.
			const warm = 30
			for number := range uint64(warm) {
				take(number + 2)
				s.hash()
			}
			for number := uint64(warm + 2); b.Loop(); number++ {
				b.StopTimer()
				s.hash()
				p.overwrite(r, entities*int(unsafe.Sizeof(sample{}))/4096/100)
				b.StartTimer()
				take(number)
			}
			b.ReportMetric(float64(s.size()), "copied-B/op")
		})
	}
}
