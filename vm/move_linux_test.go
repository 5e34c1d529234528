package vm

import (
	"slices"
	"testing"
)

// TestMoveTakesNoMemory: after a move, the pages that were written are at the new addresses, the other pages
// take no memory, and the old addresses are mapped and empty.
func TestMoveTakesNoMemory(t *testing.T) {
	p := PageSize()
	for _, pages := range []Pages{PagesAuto, PagesSmall} {
		r := open(t, onlyOS(t), 512*p, Options{Pages: pages})
		to := open(t, onlyOS(t), 512*p, Options{Pages: pages, Name: "destination"})
		must(t, r.Commit(0, 300*p))
		fill(r, 10*p, 100*p)
		must(t, r.MovePages(to, 101*p, 0, 200*p))
		resident(t, "the source", r, 0) // mincore fails for addresses that are not mapped
		resident(t, "the destination", to, 100*p)
		if n := mincore(t, to, 111*p, 100*p); n != 100*p {
			t.Errorf("%d bytes are in memory, want 100 pages", n)
		}
		_, names := smaps(t, to)
		for _, name := range names {
			if name != "[anon:vast: destination]" {
				t.Errorf("a mapping of the destination is named %s", name)
			}
		}
		must(t, to.Close())
		if n := mincore(t, to, 0, 512*p); n != 0 {
			t.Errorf("a closed destination has %d bytes in memory", n)
		}
	}
}

// TestMoveKeepsHugePages: huge pages move whole if both ranges have the same offset in a huge page, and the
// destination gets the source's advice to use huge pages.
func TestMoveKeepsHugePages(t *testing.T) {
	backend := onlyOS(t)
	huge := HugePageSize()
	if huge == 0 || HugeMode() == "never" {
		t.Skip("no huge pages")
	}
	r, to := open(t, backend, 8*huge, Options{}), open(t, backend, 8*huge, Options{})
	must(t, r.Huge(0, 8*huge))
	must(t, r.Commit(0, 4*huge))
	fill(r, 0, 4*huge)
	if sum, _ := smaps(t, r); sum["AnonHugePages"] != 4*huge {
		t.Skip("the system has no huge pages free")
	}
	must(t, r.MovePages(to, 2*huge, 0, 4*huge))
	if sum, _ := smaps(t, to); sum["AnonHugePages"] != 4*huge || sum["Rss"] != 4*huge {
		t.Errorf("%d of %d bytes are huge pages after the move", sum["AnonHugePages"], sum["Rss"])
	}
	must(t, to.Decommit(2*huge, huge))
	must(t, to.Commit(2*huge, huge))
	fill(to, 2*huge, PageSize())
	if n := mincore(t, to, 2*huge, huge); n != huge {
		t.Errorf("a write to the destination takes %d bytes, want %d", n, huge)
	}
	must(t, to.MovePages(r, PageSize(), 3*huge, huge)) // the huge page cannot stay whole
	if n := mincore(t, r, PageSize(), huge); n != huge {
		t.Errorf("%d bytes are in memory after a move that splits a huge page, want %d", n, huge)
	}
}

// TestMoveFindsBorders moves a range that consists of several mappings.
func TestMoveFindsBorders(t *testing.T) {
	p := PageSize()
	r := open(t, onlyOS(t), 1024*p, Options{})
	must(t, r.Commit(0, 256*p))
	// Mappings whose pages were written before the mappings became neighbours stay separate.
	must(t, r.Decommit(50*p, 3*p))
	must(t, r.Decommit(99*p, 1*p))
	stamp(r, 0, 50*p, 0)
	stamp(r, 53*p, 46*p, 53)
	stamp(r, 100*p, 156*p, 100)
	must(t, r.Commit(0, 256*p))
	stamp(r, 50*p, 3*p, 50)
	stamp(r, 99*p, p, 99)
	must(t, r.MovePages(r, 512*p, 0, 256*p))
	if !stamped(r, 512*p, 256*p, 0) {
		t.Error("the moved pages hold wrong bytes")
	}
	resident(t, "after the move", r, 256*p)
	must(t, r.MovePages(r, 300*p, 512*p+10*p, 200*p))
	if !stamped(r, 300*p, 200*p, 10) || !stamped(r, 512*p, 10*p, 0) {
		t.Error("the pages hold wrong bytes after the second move")
	}
	resident(t, "after the second move", r, 256*p)
}

// TestMovedMappingsAreCounted: moved pieces stay separate mappings until they are decommitted.
func TestMovedMappingsAreCounted(t *testing.T) {
	const pages = 64
	p := PageSize()
	r := open(t, onlyOS(t), 4*pages*p, Options{})
	must(t, r.Commit(0, pages*p))
	fill(r, 0, pages*p)
	for i := range pages {
		must(t, r.MovePages(r, (3*pages-1-i)*p, i*p, p))
	}
	sum, _ := smaps(t, r)
	if counted := r.m.mappings; counted < sum["mappings"] || counted > sum["mappings"]+2 || counted < pages {
		t.Errorf("%d mappings are counted, the kernel shows %d", counted, sum["mappings"])
	}
	must(t, r.Decommit(0, 4*pages*p))
	must(t, r.Commit(2*pages*p, pages*p))
	fill(r, 2*pages*p, pages*p)
	sum, names := smaps(t, r)
	if sum["mappings"] > 3 || r.m.mappings != 3 || len(r.m.moved) != 0 {
		t.Errorf("after Decommit of all pages the kernel shows %d mappings, %d are counted: %q",
			sum["mappings"], r.m.mappings, slices.Compact(names))
	}
}
