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
		{Work: "sparse_added", N: 64, Peer: peerSelf, Ratio: 0.5},
		{Work: "new_world", N: 1, Peer: peerUOT, Ratio: 3},
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

Times better than the others, at one size:

| work | entities | than Ark | than the best other store |
|---|--:|--:|--:|
| new_world | 1 | | 3.00 uot |

Means over all cases. A case is a work with one number of entities:

| compared with | cases | mean |
|---|--:|--:|
| ark | 4 | 12.5 |
| donburi | 1 | 1500 |
| uot | 3 | 3.43 |
| the fastest in each case | 5 | 8.37 |

Vast is first in 1 of the 1 cases with 64 entities or more. It ties in 0 (an iteration of
1,000 entities or more, at most 5 % behind) and is behind in 0.

Times faster than Vast itself in another way:

| work | entities | ratio |
|---|--:|--:|
| sparse_added | 64 | 0.50 |
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRanksCountTies(t *testing.T) {
	g := newGrid()
	for _, r := range []row{
		{Work: "query2comp", N: 16, Ratio: 0.5},       // too few entities to count
		{Work: "query2comp", N: 64, Ratio: 0.99},      // behind: no tie below 1,000 entities
		{Work: "query2comp", N: 1024, Ratio: 0.95},    // a tie
		{Work: "query2comp", N: 16_000, Ratio: 0.949}, // behind
		{Work: "query2comp", N: 256_000, Ratio: 1},    // first
		{Work: "random", N: 1024, Ratio: 0.99},        // behind: random does not iterate
	} {
		r.Peer = peerArk
		g.add(r)
	}
	if first, ties, behind := g.ranks(64); first != 1 || ties != 1 || behind != 3 {
		t.Errorf("%d first, %d ties, %d behind; want 1, 1, 3", first, ties, behind)
	}
}

func TestMarkdownNumbers(t *testing.T) {
	for ratio, want := range map[float64]string{0.956: "0.96", 9.994: "9.99", 9.996: "10.0", 99.94: "99.9",
		99.96: "100", 1234.5: "1234"} {
		if got := times3(ratio); got != want {
			t.Errorf("%v is written %s, want %s", ratio, got, want)
		}
	}
	for n, want := range map[int]string{1: "1", 999: "999", 1000: "1,000", 16_000: "16,000",
		1_000_000: "1,000,000"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}
