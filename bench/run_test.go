package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestJSONHasTheFields(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run([]string{"-json", "-work", "random,query2comp", "-peer", "ark", "-n", "3", "-rounds",
		"1"}, &stdout, &stderr); status != exitOK {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	var got map[string][]map[string]any
	decoder := json.NewDecoder(&stdout)
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if decoder.More() {
		t.Error("text follows the JSON object")
	}
	if len(got) != 1 || len(got["rows"]) != 2 {
		t.Fatalf("not an object with two rows: %v", got)
	}
	fields := []string{"n", "ours_empty_query_ns", "ours_median_ns", "ours_ns", "peer",
		"peer_empty_query_ns", "peer_median_ns", "peer_ns", "ratio", "work"}
	for i, work := range []string{"query2comp", "random"} {
		r := got["rows"][i]
		var names []string
		for name := range r {
			names = append(names, name)
		}
		slices.Sort(names)
		if !slices.Equal(names, fields) {
			t.Errorf("fields %v, want %v", names, fields)
		}
		if r["work"] != work || r["n"] != 3.0 || r["peer"] != "ark" {
			t.Errorf("row %d is %v, want %s, n = 3, peer ark", i, r, work)
		}
		ratio := r["peer_ns"].(float64) / r["ours_ns"].(float64)
		if math.Abs(ratio-r["ratio"].(float64)) > 0.01*ratio {
			t.Errorf("peer_ns %v, ours_ns %v: got ratio %v, want %v", r["peer_ns"], r["ours_ns"], r["ratio"],
				ratio)
		}
	}
}

func TestTableIsAligned(t *testing.T) {
	var out bytes.Buffer
	table := newTable(&out)
	for _, r := range []row{
		{Work: "query2comp", N: 1, Peer: "ark-tables", OursNS: 3.25, PeerNS: 61, Ratio: 18.769,
			OursMedianNS: 4, PeerMedianNS: 70, OursEmptyQueryNS: 2, PeerEmptyQueryNS: 50},
		{Work: "new_world", N: 1_000_000, Peer: "ark", OursNS: 40, PeerNS: 28_000, Ratio: 700,
			OursMedianNS: 50, PeerMedianNS: 31_000, OursEmptyQueryNS: 2, PeerEmptyQueryNS: 50},
	} {
		if err := table.add(r); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(out.String(), "\n")
	title, first, second := lines[4], lines[5], lines[6]
	if len(title) != len(first) || len(first) != len(second) {
		t.Errorf("lines of different lengths:\n%s\n%s\n%s", title, first, second)
	}
	want := "query2comp 1 ark-tables 3.25 61.00 18.77 4.00 70.00 2.0 50.0"
	if strings.Join(strings.Fields(first), " ") != want {
		t.Errorf("line %q, want the fields %q", first, want)
	}
}

func TestBadArgumentsGetAMessageAndStatus2(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // part of the message
	}{
		{[]string{"-work", "query3comp"}, `-work: unknown name "query3comp"; use query2comp, query32arch`},
		{[]string{"-work", "random,"}, `-work: unknown name ""`},
		{[]string{"-peer", "legion"},
			`-peer: unknown name "legion"; use ark, ark-tables, ark-batch, slice, self, arche`},
		{[]string{"-work", "random", "-peer", "slice"}, "-n and -peer: random has the peers ark"},
		{[]string{"-work", "new_world", "-n", "7"},
			"new_world has the peers ark, arche, volt, donburi, uot, ggecs and n = 1 only"},
		{[]string{"-n", "0"}, `-n: "0" is not a number from 1 to 67108864`},
		{[]string{"-n", "1,-4"}, `"-4" is not a number`},
		{[]string{"-n", "many"}, `"many" is not a number`},
		{[]string{"-n", "67108865"}, `"67108865" is not a number`},
		{[]string{"-n", "99999999999999999999"}, `"99999999999999999999" is not a number`},
		{[]string{"-rounds", "0"}, "-rounds 0: at least one round is needed"},
		{[]string{"-rowtime", "-1s"}, "-rowtime -1s: a time cannot be negative"},
		{[]string{"-json", "-markdown"}, "-json and -markdown: use only one of them"},
		{[]string{"-rounds", "x"}, `invalid value "x"`},
		{[]string{"-svg", "/there/is/no/such/place/chart.svg"},
			"-svg: open /there/is/no/such/place/chart.svg"},
		{[]string{"-fast"}, "flag provided but not defined: -fast"},
		{[]string{"random"}, `unexpected argument "random"; works are chosen with -work`},
	} {
		var stdout, stderr bytes.Buffer
		if status := run(c.args, &stdout, &stderr); status != exitUsage {
			t.Errorf("%v: status %d, want %d", c.args, status, exitUsage)
		}
		if !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: message %q lacks %q", c.args, &stderr, c.want)
		}
		if stdout.Len() > 0 {
			t.Errorf("%v: prints %q to stdout, want nothing", c.args, &stdout)
		}
	}
}

func TestHelpIsNoError(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run([]string{"-h"}, &stdout, &stderr); status != exitOK {
		t.Errorf("status %d", status)
	}
	for _, name := range []string{"-work", "-n", "-peer", "-rounds", "-rowtime", "-json", "-markdown", "-svg",
		"query256arch", "ark-batch"} {
		if !strings.Contains(stderr.String(), name) {
			t.Errorf("the help does not name %s", name)
		}
	}
}

func TestChooseKeepsTheOrderOfTheWorkloads(t *testing.T) {
	plans, err := choose("new_world, delete2comp,query2comp", "1,50", "ark,ark-batch")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range plans {
		got = append(got, fmt.Sprintf("%s %d %s", p.work.name, p.n, p.match.peer))
	}
	want := []string{
		"query2comp 1 ark", "query2comp 50 ark",
		"delete2comp 1 ark", "delete2comp 1 ark-batch", "delete2comp 50 ark", "delete2comp 50 ark-batch",
		"new_world 1 ark",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%v, want\n%v", got, want)
	}
}

func TestChooseTakesThePublicSizesByDefault(t *testing.T) {
	plans, err := choose("random", "", peerArk)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, p := range plans {
		got = append(got, p.n)
	}
	if want := []int{1, 4, 16, 64, 256, 1024, 16_000, 256_000, 1_000_000}; !slices.Equal(got, want) {
		t.Errorf("sizes %v, want %v", got, want)
	}
}

func TestPeerLimitAppliesOnlyWithoutSizes(t *testing.T) {
	for sizes, want := range map[string]int{"": 256_000, "64,1000000": 1_000_000} {
		plans, err := choose("random", sizes, peerGGECS)
		if err != nil {
			t.Fatal(err)
		}
		if got := plans[len(plans)-1].n; got != want {
			t.Errorf("with -n %q the largest row has n = %d, want %d", sizes, got, want)
		}
	}
}
