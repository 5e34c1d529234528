package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/cmd/vast/earth/places"
)

// quickEarth shortens the works earth and earth-opened.
func quickEarth() error {
	text := "name,lat,lon,population\n"
	for i := range 30 {
		text += fmt.Sprintf("P%d,%d,%d,%d\n", i, i, 3*i, 1000*i)
	}
	list, err := places.Read(strings.NewReader(text), "places", places.Options{})
	earthScale.second, earthScale.places = 2*time.Millisecond, list
	return err
}

func TestPausesOfTicks(t *testing.T) {
	ms := func(values ...float64) (ds []time.Duration) {
		for _, v := range values {
			ds = append(ds, time.Duration(v*float64(time.Millisecond)))
		}
		return ds
	}
	for _, c := range []struct {
		name        string
		late        []time.Duration
		checkpoints []int // ticks with a checkpoint
		missed      []time.Duration
		pause       time.Duration
		worst       time.Duration
		within      float64
	}{
		{"no checkpoint", ms(4, 5, 6), nil, nil, -5 * time.Millisecond, 6 * time.Millisecond, 1},
		{"the checkpoint's tick is late", ms(4, 9, 5, 4), []int{1}, nil, 5 * time.Millisecond,
			9 * time.Millisecond, 1},
		{"the tick after the checkpoint's tick is later", ms(4, 6, 9, 4, 4, 4), []int{1}, nil,
			5 * time.Millisecond, 9 * time.Millisecond, 1},
		{"the checkpoint is in the last tick", ms(4, 4, 4, 20), []int{3}, nil, 16 * time.Millisecond,
			20 * time.Millisecond, 0.75},
		{"dropped ticks", ms(4, 6, 4, 4), []int{1}, ms(90, 90), 2 * time.Millisecond,
			90 * time.Millisecond, 4.0 / 6},
		{"the longest of two pauses", ms(4, 30, 4, 4, 17, 4, 4, 4), []int{1, 4}, nil, 26 * time.Millisecond,
			30 * time.Millisecond, 0.75},
	} {
		checkpoints := make([]bool, len(c.late))
		for _, i := range c.checkpoints {
			checkpoints[i] = true
		}
		p := newEarthPartOf(c.late, checkpoints, c.missed)
		if p != (earthPart{c.pause, c.worst, c.within}) {
			t.Errorf("%s: got %+v, want %+v", c.name, p, earthPart{c.pause, c.worst, c.within})
		}
	}
}

func TestPercentile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i))
	}
	for _, c := range []struct {
		values []time.Duration
		share  float64
		want   time.Duration
	}{
		{nil, 0.99, 0}, {hundred[:1], 0.99, 100}, {hundred, 0.99, 99}, {hundred, 0.5, 50}, {hundred, 1, 100},
		{hundred, 0, 1},
	} {
		if got := percentile(c.values, c.share); got != c.want {
			t.Errorf("percentile %v of %d values: got %d, want %d", c.share, len(c.values), got, c.want)
		}
	}
}

func TestEarthRowsShareOneRun(t *testing.T) {
	plans, err := choose("earth,earth-opened", "50", "")
	if err != nil {
		t.Fatal(err)
	}
	defer delete(earthRuns, 50)
	var got keeper
	if err := quick.measureAll(plans, &got, t.Output()); err != nil {
		t.Fatal(err)
	}
	want := []string{"earth 5ms 5e+06", "earth 16.7ms 1.6666666e+07", "earth-opened 5ms 5e+06",
		"earth-opened 16.7ms 1.6666666e+07"}
	for i, r := range got.rows {
		p := earthRuns[50][partLater]
		if i >= 2 {
			p = earthRuns[50][partOpened]
		}
		if s := fmt.Sprintf("%s %s %g", r.Work, r.Peer, r.PeerNS); s != want[i] {
			t.Errorf("row %d: got %s, want %s", i, s, want[i])
		}
		if figure := max(1, float64([]time.Duration{p.pause, p.late}[i%2])); r.OursNS != figure {
			t.Errorf("row %d: OursNS is %v, want %v", i, r.OursNS, figure)
		}
		if r.OursWithin == nil || *r.OursWithin != rounded(p.within) || p.within < 0 || p.within > 1 {
			t.Errorf("row %d: got %+v, want OursWithin %v, from 0 to 1", i, r, p.within)
		}
	}
}
