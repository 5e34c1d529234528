package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// quick takes little time: the tests check results, not times.
var quick = measurement{rounds: 1, passes: 1, sampleTime: time.Microsecond}

type keeper struct{ rows []row }

func (k *keeper) add(r row) error { k.rows = append(k.rows, r); return nil }
func (k *keeper) finish() error   { return nil }

func TestEveryRowComputesWhatItShould(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir) // Windows
	// 1 and 7 entities do not fill a word of 64 slots. 300 is more than the number of archetypes.
	plans, err := choose("", "1,7,300", "")
	if err != nil {
		t.Fatal(err)
	}
	// outside_test.go tests each work with the field outside set. Such a work needs a world with more
	// entities, because the figure of a small world is less than the error of measurement.
	plans = slices.DeleteFunc(plans, func(p plan) bool { return p.work.outside != nil })
	var got keeper
	if err := quick.measureAll(plans, &got, io.Discard); err != nil {
		t.Fatal(err)
	}
	if len(got.rows) != len(plans) {
		t.Fatalf("%d rows for %d plans", len(got.rows), len(plans))
	}
	for i, r := range got.rows {
		p := plans[i]
		if r.Work != p.work.name || r.N != p.n || r.Peer != p.match.peer {
			t.Errorf("row %d has the work %s, n = %d and the peer %s, want %s, %d and %s", i, r.Work, r.N,
				r.Peer, p.work.name, p.n, p.match.peer)
		}
		if ours, theirs := r.OursNS, r.PeerNS; p.work.bytes != (ours == 0) || p.work.bytes != (theirs == 0) ||
			p.work.bytes != (r.OursBytes > 0) || p.work.bytes != (r.PeerBytes > 0) {
			t.Errorf("row %+v: it must have bytes and no times: %t", r, p.work.bytes)
		}
		queries := p.match.emptyTheirs != nil
		if queries != (r.OursEmptyQueryNS > 0) || queries != (r.PeerEmptyQueryNS > 0) {
			t.Errorf("row %+v: it must have times of empty queries: %t", r, queries)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files left in the temporary directory: %v (error: %v)", left, err)
	}
}

func TestChecksNoticeMissingWork(t *testing.T) {
	for _, work := range []string{"query2comp", "query32arch", "query256arch", "random", "hierarchy",
		"hierarchy_join", "hierarchy_join_born", "events", "new_world", "first_entity", "small_world"} {
		plans, err := choose(work, "1", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range plans {
			for name, setUp := range map[string]func(int) side{"vast": p.match.ours,
				p.match.peer: p.match.theirs} {
				s := setUp(9)
				s.run(3)
				if err := s.check(3); err != nil {
					t.Errorf("%s, %s: check after 3 repetitions: %v", work, name, err)
				}
				if s.check(4) == nil {
					t.Errorf("%s, %s: check for 4 repetitions passes after 3", work, name)
				}
				if s.close != nil {
					s.close()
				}
			}
		}
	}
}

func TestChecksNoticeEntitiesLeftBehind(t *testing.T) {
	ours, ark := newVastCrowd(make([]vast.Entity, 5), twoParts).find(),
		newArkCrowd(make([]ecs.Entity, 5), twoParts)
	arche, volt, donburi := newArcheCrowd(5, twoParts), newVoltCrowd(5), newDonburiCrowd(5, twoParts)
	uot, ggecs := newUOTCrowd(5, twoParts), newGGECSCrowd(5, twoParts)
	sides := map[string]side{
		"vast":      ours.side(createVast, func(*vastCrowd) {}, 5, ours.check),
		peerArk:     ark.side(createArk, func(*arkCrowd) {}, 5, ark.check),
		peerArche:   crowdSide(arche, 5, createArche, func(*archeStore) {}, 5, arche.check),
		peerVolt:    crowdSide(volt, 5, createVolt, func(*voltStore) {}, 5, volt.check(twoParts)),
		peerDonburi: crowdSide(donburi, 5, createDonburi, func(*donburiStore) {}, 5, donburi.check),
		peerUOT:     crowdSide(uot, 5, createUOT, func(*uotStore) {}, 5, uot.check),
		peerGGECS:   crowdSide(ggecs, 5, createGGECS, func(*ggecsStore) {}, 5, ggecs.check),
	}
	for name, s := range sides {
		if err := s.finish(); err == nil || !strings.Contains(err.Error(), "after undoing the work") {
			t.Errorf("%s: no entity was deleted, but check returns %v", name, err)
		}
	}
}

func TestChecksNoticeMissingComponents(t *testing.T) {
	ours, ark := newVastCrowd(make([]vast.Entity, 5), tenParts).find(),
		newArkCrowd(make([]ecs.Entity, 5), tenParts)
	ours.archetype = ours.world.Archetype(ours.columns[:twoParts]...)
	arche, donburi := newArcheCrowd(5, tenParts), newDonburiCrowd(5, tenParts)
	uot, ggecs, volt := newUOTCrowd(5, tenParts), newGGECSCrowd(5, tenParts), newVoltCrowd(5)
	// Each function creates entities with two components, and checks them for ten components.
	checks := map[string]func() error{
		"vast":  func() error { createVast(ours); return ours.check(5) },
		peerArk: func() error { createArk(ark); return ark.check(5) },
		peerArche: func() error {
			all := arche.ids
			arche.ids = all[:twoParts]
			createArche(arche)
			arche.ids = all
			return arche.check(5)
		},
		peerVolt: func() error { createVolt(volt); return volt.check(tenParts)(5) },
		peerDonburi: func() error {
			all := donburi.types
			donburi.types = all[:twoParts]
			createDonburi(donburi)
			donburi.types = all
			return donburi.check(5)
		},
		peerUOT: func() error {
			all := uot.parts
			uot.parts = all[:twoParts]
			createUOT(uot)
			uot.parts = all
			return uot.check(5)
		},
		peerGGECS: func() error {
			all := ggecs.ids
			ggecs.ids = all[:twoParts]
			createGGECS(ggecs)
			ggecs.ids = all
			return ggecs.check(5)
		},
	}
	for name, check := range checks {
		if err := check(); err == nil || !strings.Contains(err.Error(),
			"0 match, 5 are in the world, 5 are alive") {
			t.Errorf("%s: check returns %v although entities lack components", name, err)
		}
	}
	closeVast(ours.world)()
}

func TestCheckEdits(t *testing.T) {
	if err := checkEdits(4, 4, 0, 6); err != nil {
		t.Error(err)
	}
	for _, wrong := range []error{checkEdits(4, 3, 0, 6), checkEdits(4, 4, 1, 6), checkEdits(4, 4, 0, 5)} {
		if wrong == nil {
			t.Error("a wrong result passes the check")
		}
	}
}

func TestCheckInstances(t *testing.T) {
	if err := checkInstances(4, 4, 4, 4*templateX); err != nil {
		t.Error(err)
	}
	for _, wrong := range []error{checkInstances(4, 5, 4, 4*templateX), checkInstances(4, 4, 3, 4*templateX),
		checkInstances(4, 4, 4, 0)} {
		if wrong == nil {
			t.Error("a wrong result passes the check")
		}
	}
}

func TestChecksNoticeWrongTrees(t *testing.T) {
	for name, setUp := range map[string]func(int) side{"vast": newTreeVast(func(c *vastTrees) {
		cloneTreesVast(c)
		for child := range c.childOf.Sources(c.entities[1]) {
			c.childOf.Set(child, c.entities[0])
			break
		}
	}), peerArk: func(n int) side {
		c := newTreeOfArk(n / treeSize)
		return treesSide(c, n/treeSize, func(c *arkTrees) {
			cloneTreesArk(c)
			c.family.Get(c.family.Get(c.entities[1]).First).Parent = c.entities[0]
		}, (*arkTrees).deleteTrees, c.check)
	}} {
		s := setUp(3 * treeSize)
		if err := s.finish(); err == nil || !strings.Contains(err.Error(), errNoTree.Error()) {
			t.Errorf("%s: a child has another parent, but check returns %v", name, err)
		}
	}
}

func TestSubset(t *testing.T) {
	base, extras := []string{"p"}, []string{"a", "b", "c"}
	for number, want := range []string{"p", "pa", "pb", "pab", "pc", "pac", "pbc", "pabc"} {
		if got := strings.Join(subset(base, extras, number), ""); got != want {
			t.Errorf("subset %d is %s, not %s", number, got, want)
		}
	}
}

// BenchmarkRows runs the sides of the rows as Go benchmarks, for Go's profiles and benchstat.
// For example: go test -bench 'Rows/query2comp/n=256$/ark-tables/vast' -cpuprofile cpu.out
func BenchmarkRows(b *testing.B) {
	plans, err := choose("", "", "")
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range plans {
		if p.work.outside != nil {
			continue // the sides run in child processes, which Go's profiles do not show
		}
		b.Run(fmt.Sprintf("%s/n=%d/%s", p.work.name, p.n, p.match.peer), func(b *testing.B) {
			benchmarkSide(b, "vast", p.match.ours, p.n)
			benchmarkSide(b, "peer", p.match.theirs, p.n)
		})
	}
}

// benchmarkSide sets up a side once. It reports the side's figure or, if the side has no figure, the time per
// entity.
func benchmarkSide(b *testing.B, name string, setUp func(int) side, n int) {
	var s *side
	b.Run(name, func(b *testing.B) {
		if s == nil {
			made := setUp(n)
			s = &made
			if s.figure == nil {
				s.run(1)
			}
		}
		b.ResetTimer()
		if s.figure != nil {
			sum := 0.0
			for b.Loop() {
				sum += s.figure()
			}
			b.ReportMetric(sum/float64(b.N)/float64(s.units), "figure")
			return
		}
		took := s.run(b.N)
		b.ReportMetric(float64(took.Nanoseconds())/float64(b.N)/float64(s.units), "ns/entity")
	})
	if s != nil {
		if err := s.finish(); err != nil {
			b.Fatal(err)
		}
	}
}
