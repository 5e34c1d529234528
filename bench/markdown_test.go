package main

import (
	"strings"
	"testing"
)

func TestMarkdownTakesTheBestOfEachStoreAndKeepsOneCallApart(t *testing.T) {
	var out strings.Builder
	m := newMarkdownReport(&out)
	for _, r := range []row{
		{Work: "query2comp", N: 1000, Peer: peerArk, Ratio: 8},
		{Work: "query2comp", N: 1000, Peer: peerArkTables, Ratio: 2},
		{Work: "query2comp", N: 1000, Peer: peerSlice, Ratio: 0.9},
		{Work: "query2comp", N: 1000, Peer: peerUOT, Ratio: 3},
		{Work: "query2comp", N: 1, Peer: peerArk, Ratio: 8},
		{Work: "query2comp", N: 1, Peer: peerUOT, Ratio: 4.5},
		{Work: "create2comp", N: 1, Peer: peerArk, Ratio: 12.34},
		{Work: "create2comp", N: 1, Peer: peerArkBatch, Ratio: 123.4},
		{Work: "create2comp", N: 1, Peer: peerDonburiBatch, Ratio: 1500},
	} {
		if err := m.add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.finish(); err != nil {
		t.Fatal(err)
	}
	want := `
Times faster than Ark:

| work | 1 | 1,000 | mean |
|---|--:|--:|--:|
| query2comp | 8.00 | 2.00 | 4.00 |
| create2comp | 12.3 | | 12.3 |
| create2comp, one call | 123 | | 123 |

Times faster than the fastest other store:

| work | 1 | 1,000 | mean |
|---|--:|--:|--:|
| query2comp | 4.50 uot | 2.00 ark | 3.00 |
| create2comp | 12.3 ark | | 12.3 |
| create2comp, one call | 123 ark | | 123 |
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMarkdownNumbers(t *testing.T) {
	for ratio, want := range map[float64]string{0.956: "0.96", 9.994: "9.99", 9.996: "10.0", 99.94: "99.9", 99.96: "100", 1234.5: "1234"} {
		if got := times3(ratio); got != want {
			t.Errorf("%v is written %s, want %s", ratio, got, want)
		}
	}
	for n, want := range map[int]string{1: "1", 999: "999", 1000: "1,000", 16_000: "16,000", 1_000_000: "1,000,000"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}
