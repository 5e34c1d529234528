package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestShareConverges lets processes give and take regions by the rules until no region moves, and checks that
// the result is fair.
func TestShareConverges(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		processes, regions := 1+random.IntN(6), 1+random.IntN(20)
		owners := make([]int, regions) // -1 if a region has no owner
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
			p := picture() // all processes see the same picture, and act at the same time
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
				t.Fatalf("%d regions moved %d times: %v", regions, moves, p.counts)
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
