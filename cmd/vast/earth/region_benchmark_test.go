package earth

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
)

// BenchmarkRegions measures ticks without messages between processes: the regions run in parallel in one
// process.
func BenchmarkRegions(b *testing.B) {
	for _, n := range []int{1, 4, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			workers := 1
			if n == 1 {
				workers = 0
			}
			cs := newContinents(b, Config{Travellers: 1_000_000, Seed: 1, Workers: workers}, n)
			run := func() {
				tick := len(cs.sent)
				sent := make([][][]byte, n)
				var wg sync.WaitGroup
				for i, r := range cs.regions {
					wg.Go(func() {
						var received [][]byte
						if tick > Lookahead {
							for _, from := range cs.sent[tick-Lookahead] {
								received = append(received, from[i])
							}
						}
						sections, err := r.Tick(uint64(tick), received)
						if err != nil {
							b.Error(err)
						}
						for _, s := range sections {
							sent[i] = append(sent[i], bytes.Clone(s))
						}
					})
				}
				wg.Wait()
				cs.sent = append(cs.sent, sent)
				if tick >= Lookahead {
					cs.sent[tick-Lookahead] = nil
				}
			}
			for range 50 {
				run()
			}
			for b.Loop() {
				run()
			}
		})
	}
}
