package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestShareConverges gives and takes regions until no region moves, and checks that the shares are fair.
func TestShareConverges(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		processes, regions := 1+random.IntN(6), 1+random.IntN(20)
		owners := make([]int, regions) // owner of each region, or -1
		for r := range owners {
			owners[r] = random.IntN(processes+1) - 1
		}
		picture := func() (p picture) {
			p.counts, p.unfinished = make(map[string]int), regions
			p.ownerships = make([]ownership, regions)
			for i := range processes {
				p.counts[fmt.Sprint(i)] = 0
			}
			for r, o := range owners {
				if o < 0 {
					p.ownerships[r] = released
				} else {
					p.counts[fmt.Sprint(o)]++
				}
			}
			return p
		}
		moves := 0
		for changed := true; changed; {
			changed = false
			p := picture() // one picture for all processes, as if they acted at the same time
			for i := range processes {
				if p.gives(fmt.Sprint(i)) {
					for r, o := range owners {
						if o == i {
							owners[r], changed = -1, true
							moves++
							break
						}
					}
				}
			}
			for r, o := range owners {
				if o >= 0 {
					continue
				}
				p := picture()
				for i := range processes {
					if name := fmt.Sprint(i); p.fewest(name) && p.counts[name] < p.share() {
						owners[r], changed = i, true
						break
					}
				}
				if owners[r] < 0 {
					t.Fatalf("no process takes a region: %v", p.counts)
				}
			}
			if moves > 2*regions {
				t.Fatalf("%d regions moved %d times, want %d or fewer: %v", regions, moves, 2*regions,
					p.counts)
			}
		}
		p := picture()
		for name, n := range p.counts {
			if n != regions/processes && n != p.share() {
				t.Fatalf("process %s has %d regions, want a fair share: %v", name, n, p.counts)
			}
		}
	}
}
