package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestChecksNoticeOtherCargo checks that check fails if the folder and the program hold different worlds.
func TestChecksNoticeOtherCargo(t *testing.T) {
	for _, n := range []int{1, 65, 300} {
		k := newKeptWorld(n)
		k.step(coldEvery)
		if err := k.check(0); err != nil {
			t.Errorf("%d entities: %v", n, err)
		}
		k.dirty(coldEvery)
		if err := k.check(0); err == nil || !strings.Contains(err.Error(), "differs") {
			t.Errorf("%d entities: check of a change that is in no checkpoint returns %v", n, err)
		}
		k.cargoWorld.fill(1)
		if err := k.check(0); err == nil {
			t.Errorf("%d entities: check passes although an entity is in no checkpoint", n)
		}
		k.err = errors.New("the disk is full")
		if err := k.check(0); err != k.err {
			t.Errorf("%d entities: check returns %v, want %v", n, err, k.err)
		}
		k.close()
		if _, err := os.Stat(k.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%d entities: the folder still exists after close: %v", n, err)
		}
	}
}

// TestDirtyPages checks that coldEvery calls of dirty write to each page once.
func TestDirtyPages(t *testing.T) {
	const pages = 250
	w := newCargoWorld(pages * cargoPerPage)
	defer w.Close()
	w.fill(pages * cargoPerPage)
	var all [][]cargo
	for _, part := range w.parts {
		all = append(all, slices.Clone(part))
	}
	written := 0
	for range coldEvery {
		written += w.dirty(coldEvery)
	}
	changed := 0
	for i, part := range w.parts {
		for j := range part {
			if d := part[j].Values[0] - all[i][j].Values[0]; d == 1 {
				changed++
			} else if d != 0 {
				t.Fatalf("entity %d of part %d was written %v times", j, i, d)
			}
		}
	}
	if written < pages || written > pages+len(w.parts) || changed != pages*cargoPerPage {
		t.Errorf("dirty returned %d pages in all, want %d to %d; it wrote to %d entities, want %d", written,
			pages, pages+len(w.parts), changed, pages*cargoPerPage)
	}
}

func TestBytesRows(t *testing.T) {
	plans, err := choose("bytes-written,bytes-on-disk", "20000", "")
	if err != nil {
		t.Fatal(err)
	}
	var got keeper
	if err := quick.measureAll(plans, &got, t.Output()); err != nil {
		t.Fatal(err)
	}
	// PeerBytes of bytes-written are 4 of 313 pages. PeerBytes of bytes-on-disk are the components and up to
	// a fifth more.
	for i, bound := range []struct{ least, most float64 }{{0.8192, 0.82}, {cargoBytes, 1.2 * cargoBytes}} {
		r := got.rows[i]
		if r.PeerBytes < bound.least || r.PeerBytes > bound.most || r.OursBytes < 0.8*bound.least ||
			r.OursBytes > 4*bound.most {
			t.Errorf("row %+v: want PeerBytes from %v to %v, and OursBytes from %v to %v", r, bound.least,
				bound.most, 0.8*bound.least, 4*bound.most)
		}
	}
}

// TestChecksNoticeMissingFreight checks that check fails if ticks or entities are missing, or if a value has
// one write too many. Each value counts how often its column was written.
func TestChecksNoticeMissingFreight(t *testing.T) {
	w := newSpreadWorld(100)
	w.fill(100)
	defer w.close()
	for range ticksPerSecond + 1 {
		if err := w.tick(nil); err != nil {
			t.Fatal(err)
		}
		if err := w.check(100, w.ticks); err != nil {
			t.Fatal(err)
		}
	}
	if w.check(100, w.ticks+ticksPerSecond) == nil || w.check(101, w.ticks) == nil {
		t.Error("missing ticks or entities pass the check")
	}
	for r := range w.Query(w.columns[7]).Runs() {
		w.columns[7].Slice(r)[3].Values[0]++
	}
	if err := w.check(100, w.ticks); err == nil || !strings.Contains(err.Error(), "column 7") {
		t.Errorf("check of a value that was written once too often returns %v", err)
	}
}

func TestChecksNoticeOtherRecords(t *testing.T) {
	want := newRecords(3)
	for name, change := range map[string]func(r *records){
		"fewer":    func(r *records) { *r = *newRecords(2) },
		"momentum": func(r *records) { r.Momentum[2].Z = 7 },
		"charge":   func(r *records) { r.Charge[0].Now = 7 },
		"kind":     func(r *records) { r.Kind[1].Flags = 7 },
	} {
		r := newRecords(3)
		if err := r.same(want); err != nil {
			t.Error(err)
		}
		if change(r); r.same(want) == nil {
			t.Errorf("%s: changed records pass", name)
		}
	}
	if (*records)(nil).same(want) == nil {
		t.Error("nil records pass")
	}
}
