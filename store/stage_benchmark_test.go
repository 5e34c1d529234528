package store

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/vastgo/vast"
)

// BenchmarkPause measures the pause of a checkpoint of a world of 256 MB after writes to 1 % of its pages:
//   - everything: the checkpoint copies all pages
//   - compared: the checkpoint compares all memory, and copies the changes
//   - kernel: the checkpoint asks the kernel for the written pages, and copies the changes
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
			const warmUp = 30 // the first copies touch new memory, and pages become write-protected gradually
			for number := range uint64(warmUp) {
				take(number + 2)
				s.hash()
			}
			for number := uint64(warmUp + 2); b.Loop(); number++ {
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
