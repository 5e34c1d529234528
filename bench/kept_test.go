package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestChecksNoticeOtherCargo(t *testing.T) {
	for _, n := range []int{1, 65, 300} {
		k := newKeptWorld(n)
		k.step(coldEvery)
		if err := k.check(0); err != nil {
			t.Errorf("%d entities: %v", n, err)
		}
		k.dirty(coldEvery)
		if err := k.check(0); err == nil || !strings.Contains(err.Error(), "differs") {
			t.Errorf("%d entities: check returns %v although a value differs from the checkpoint", n, err)
		}
		k.cargoWorld.fill(1)
		if err := k.check(0); err == nil {
			t.Errorf("%d entities: check passes although the checkpoint lacks an entity", n)
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

func TestCallsOfDirtyWriteEachPageOnce(t *testing.T) {
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
				t.Fatalf("entity %d of part %d was written %v times, want once", j, i, d)
			}
		}
	}
	if written < pages || written > pages+len(w.parts) || changed != pages*cargoPerPage {
		t.Errorf("the results of dirty add up to %d pages, want %d to %d; %d entities have changed, want %d",
			written, pages, pages+len(w.parts), changed, pages*cargoPerPage)
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
	// OursBytes and PeerBytes are bytes per entity. PeerBytes of bytes-written is 4 pages (16,384 bytes)
	// divided by 20,000 entities. PeerBytes of bytes-on-disk is the size of a saved file divided by 20,000
	// entities. The file holds the components and a little more.
	for i, bound := range []struct{ least, most float64 }{{0.8192, 0.82}, {cargoBytes, 1.2 * cargoBytes}} {
		r := got.rows[i]
		if r.PeerBytes < bound.least || r.PeerBytes > bound.most || r.OursBytes < 0.8*bound.least ||
			r.OursBytes > 4*bound.most {
			t.Errorf("row %+v: want PeerBytes from %v to %v, and OursBytes from %v to %v", r, bound.least,
				bound.most, 0.8*bound.least, 4*bound.most)
		}
	}
}

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
		// Values[0] is the number of writes to the column; now it is wrong.
		w.columns[7].Slice(r)[3].Values[0]++
	}
	if err := w.check(100, w.ticks); err == nil || !strings.Contains(err.Error(), "column 7") {
		t.Errorf("check returns %v although column 7 has a wrong value", err)
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
