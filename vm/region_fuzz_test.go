package vm

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

const (
	modelPages  = 24
	modelBudget = 20 // limit in pages, small enough that some commits are refused
)

// regionModel maps each committed page to its bytes at the offsets of probes.
type regionModel map[int][3]byte

// probes returns the offsets in a page that the test writes and reads.
func probes() [3]int { return [3]int{0, PageSize() / 2, PageSize() - 1} }

// driveRegion applies operations to a region on each backend, and compares the region with the model. Four
// bytes of ops describe an operation.
func driveRegion(t *testing.T, ops []byte) {
	for name, backend := range backends() {
		p := PageSize()
		limit := NewLimit(modelBudget * p)
		var r *Region
		reopen := func() {
			var err error
			if r, err = reserveOn(backend, modelPages*p, Options{Name: "model", Limit: limit},
				origin{}); err != nil {
				t.Fatal(err)
			}
		}
		reopen()
		model := make(regionModel)
		for i := 0; i+4 <= len(ops); i += 4 {
			op, a, b, c := ops[i]%8, int(ops[i+1]), int(ops[i+2]), ops[i+3]
			// The offsets lie at or near the borders of pages.
			off := min(max(a%(modelPages+1)*p+int(int8(c)), 0), modelPages*p)
			end := min(max(off+b%(modelPages+1)*p+int(int8(ops[i+3]<<4)), off), modelPages*p)
			outLo, outHi := off/p, (end+p-1)/p // pages of the range, rounded outward
			inLo, inHi := (off+p-1)/p, end/p   // pages of the range, rounded inward
			var err error
			switch op {
			case 0, 1:
				missing := 0
				for page := outLo; page < outHi && end > off; page++ {
					if _, ok := model[page]; !ok {
						missing++
					}
				}
				err = r.Commit(off, end-off)
				if fits := len(model)+missing <= modelBudget; fits != (err == nil) {
					t.Fatalf("%s, op %d: commit(%d, %d) of %d missing pages gave %v", name, i/4, off, end-off,
						missing, err)
				}
				for page := outLo; page < outHi && end > off && err == nil; page++ {
					if _, ok := model[page]; !ok {
						model[page] = [3]byte{}
					}
				}
				err = nil
			case 2:
				err = r.Decommit(off, end-off)
				for page := inLo; page < inHi; page++ {
					delete(model, page)
				}
			case 3:
				err = r.Discard(off, end-off)
				for page := inLo; page < inHi; page++ {
					if _, ok := model[page]; ok {
						model[page] = [3]byte{}
					}
				}
			case 4, 5:
				if _, ok := model[a%modelPages]; ok {
					k := b % 3
					view(r)[a%modelPages*p+probes()[k]] = c
					held := model[a%modelPages]
					held[k] = c
					model[a%modelPages] = held
				}
			case 6:
				if err = populate(r, off, end-off); err == nil {
					if err = r.Huge(off, end-off); err == nil {
						err = r.Collapse(off, end-off)
					}
				}
			case 7:
				if c%16 == 0 {
					if err = r.Close(); err == nil {
						reopen()
						clear(model)
					}
				}
			}
			if err != nil {
				t.Fatalf("%s, op %d, kind %d: %v", name, i/4, op, err)
			}
			if r.Committed() != len(model)*p || limit.Used() != len(model)*p {
				t.Fatalf("%s, op %d, kind %d: %d bytes committed, %d used, want %d of each", name, i/4, op,
					r.Committed(), limit.Used(), len(model)*p)
			}
			for page, held := range model {
				for k, want := range held {
					if got := view(r)[page*p+probes()[k]]; got != want {
						t.Fatalf("%s, op %d, kind %d: page %d holds %d at probe %d, want %d", name, i/4, op,
							page, got, k, want)
					}
				}
			}
		}
		// A backend that reuses addresses gets memory from the system: an access to a Reserved page faults.
		// The heap stand-in has readable memory at all addresses.
		if backend.reuses() {
			for page := range modelPages {
				if _, ok := model[page]; !ok && !faults(func() { sink = view(r)[page*p] }) {
					t.Fatalf("%s: page %d is Reserved and can be read", name, page)
				}
			}
		}
		must(t, r.Close())
		if limit.Used() != 0 {
			t.Fatalf("%s: %d bytes of the limit are used after Close", name, limit.Used())
		}
	}
}

func TestRegionRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 30 {
		ops := make([]byte, 4*200)
		for i := range ops {
			ops[i] = byte(rnd.Uint32())
		}
		driveRegion(t, ops)
	}
}

func FuzzRegion(f *testing.F) {
	f.Add([]byte{0, 2, 5, 0, 4, 3, 1, 77, 2, 3, 1, 3, 3, 0, 24, 0, 7, 0, 0, 0})
	f.Add(bytes.Repeat([]byte{0, 1, 2, 5, 2, 1, 0, 20}, 10)) // decommits ranges inside one page
	f.Fuzz(driveRegion)
}
