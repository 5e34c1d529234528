package vastarrow

import (
	"bytes"
	"context"
	"testing"
)

var allFormats = []Format{ArrowStream, ArrowFile, Parquet, CSV, JSONLines}

func TestRoundTrip(t *testing.T) {
	f := newFixture(t)
	f.fill(t, 5_000)
	want := f.dump()
	for _, format := range allFormats {
		t.Run(format.String(), func(t *testing.T) {
			file := mustWrite(t, format, mustEntities(t, f.Query(), f.columns()...))
			g := newFixture(t)
			g.Archetype(g.position).New() // so that IDs differ
			g.Reset()
			report, err := Read(context.Background(), g.World, bytes.NewReader(file), format, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if lost := report.Refused + report.Nulls + len(report.Unknown) + len(report.Missing); lost > 0 ||
				report.Entities != 5_000 {

				t.Errorf("%+v", report)
			}
			if got := g.dump(); got != want {
				diff(t, got, want)
			}
		})
	}
}

func diff(t *testing.T, got, want string) {
	t.Helper()
	a, b := bytes.Split([]byte(got), []byte("\n")), bytes.Split([]byte(want), []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			t.Fatalf("line %d:\n got %s\nwant %s", i, a[i], b[i])
		}
	}
	t.Fatalf("%d lines, want %d", len(a), len(b))
}

func TestEmpty(t *testing.T) {
	f := newFixture(t)
	for _, format := range allFormats {
		file := mustWrite(t, format, mustEntities(t, f.Query(), f.columns()...))
		report, err := Read(context.Background(), f.World, bytes.NewReader(file), format, ReadOptions{})
		if err != nil || report.Entities != 0 || len(report.Unknown) > 0 {
			t.Errorf("%s: %+v, %v", format, report, err)
		}
	}
}
