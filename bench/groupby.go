package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/group"
	"github.com/vastgo/vast/shared"
)

// Work group_by: for each of 16 teams, add up the X of the entities of the team. Each of n entities has a
// Position and a team, in no order. In the rows with Ark, Vast has a group for each team, which keeps the
// entities of the team as bits. Ark has a relation to the team, so that its tables keep the entities of each
// team together. In the rows with the peer self, Vast groups the entities in each repetition, by GroupBy of
// the shared column. The peer is Vast with the team in a Column, and a Go map of slices that are kept for the
// next repetition.
//
// Work group_by_regrouped: group_by after [vast.World.Regroup] by team, over the runs of each team. In the
// rows with the peer self, group_by_regrouped is the same as group_by.
//
// Work group_by_born: group_by_regrouped, but the entities are created team by team, so that Regroup moves
// none.

const teamCount = 16

// groupExtras is the value of workload.extras for these works: the world of the empty query has one component
// type besides Position and Velocity.
const groupExtras = 1

// A Team is a value that many entities have.
type Team struct {
	Number int32
	Color  [3]float32
}

// A teamOf returns the number of the team of the i-th of n entities.
type teamOf func(i, n int) int

func anyTeam(i, _ int) int { return int(uint64(i) * 0x9e3779b97f4a7c15 >> 32 % teamCount) }

func teamByTeam(i, n int) int { return i * teamCount / n }

// teamSums has the sum of X of each team over all repetitions.
type teamSums [teamCount]float64

func (s *teamSums) side(work func(), n int, of teamOf) side {
	return side{units: n, sample: timeAll(s, func(*teamSums) { work() }), check: func(done int) error {
		var want teamSums
		for i := range n {
			want[of(i, n)] += randomX(i) * float64(done)
		}
		if *s != want {
			return fmt.Errorf("after %d repetitions the sums are %v, not %v", done, *s, want)
		}
		return nil
	}}
}

type vastTeams struct {
	world *vast.World
	pos   vast.Column[Position]
	teams shared.Column[Team]
	plain vast.Column[Team]
	all   vast.Query
	of    [teamCount]vast.Query
	kept  map[Team][]vast.Slot
	sums  teamSums
}

//go:noinline
func groupVast(s *vastTeams) {
	pos := s.pos
	for i, team := range s.of {
		sum := 0.0
		for slot := range team.Slots() {
			sum += pos.At(slot).X
		}
		s.sums[i] += sum
	}
}

//go:noinline
func groupVastTogether(s *vastTeams) {
	pos := s.pos
	for i, team := range s.of {
		for run := range team.Runs() {
			sum := 0.0
			for _, p := range pos.Slice(run) {
				sum += p.X
			}
			s.sums[i] += sum
		}
	}
}

//go:noinline
func groupVastAnew(s *vastTeams) {
	pos := s.pos
	for team, run := range s.teams.GroupBy(s.all) {
		sum := 0.0
		for _, p := range pos.Slice(run) {
			sum += p.X
		}
		s.sums[team.Number] += sum
	}
}

//go:noinline
func groupVastByMap(s *vastTeams) {
	pos, plain := s.pos, s.plain
	for team, slots := range s.kept {
		s.kept[team] = slots[:0]
	}
	for slot := range s.all.Slots() {
		team := *plain.At(slot)
		s.kept[team] = append(s.kept[team], slot)
	}
	for team, slots := range s.kept {
		sum := 0.0
		for _, slot := range slots {
			sum += pos.At(slot).X
		}
		s.sums[team.Number] += sum
	}
}

// newGroupVast makes the side of Vast. If together is set, the entities of each team lie together.
func newGroupVast(n int, of teamOf, together bool) side {
	s := newTeams(n, of)
	work := groupVast
	if together {
		s.world.Regroup(s.all, vast.MoveOptions{By: s.teams})
		work = groupVastTogether
	}
	for i := range s.of {
		s.of[i] = group.New(s.teams.Where(s.all, Team{Number: int32(i)})).Query()
	}
	made := s.sums.side(func() { work(s) }, n, of)
	made.close = closeVast(s.world)
	return made
}

func newGroupVastAnew(n int, of teamOf) side {
	s := newTeams(n, of)
	made := s.sums.side(func() { groupVastAnew(s) }, n, of)
	made.close = closeVast(s.world)
	return made
}

// newTeams makes n entities whose teams are in a shared column.
func newTeams(n int, of teamOf) *vastTeams {
	w := newSizedVastWorld(n)
	s := &vastTeams{world: w, pos: vast.NewColumn[Position](w), teams: shared.New[Team](w)}
	for i, slot := range w.Archetype(s.pos, s.teams).NewEach(n) {
		s.pos.At(slot).X = randomX(i)
		s.teams.SetAt(slot, Team{Number: int32(of(i, n))})
	}
	s.all = w.Query(s.pos, s.teams)
	return s
}

func newGroupVastByMap(n int, of teamOf) side {
	w := newSizedVastWorld(n)
	s := &vastTeams{world: w, pos: vast.NewColumn[Position](w), plain: vast.NewColumn[Team](w),
		kept: map[Team][]vast.Slot{}}
	for i, slot := range w.Archetype(s.pos, s.plain).NewEach(n) {
		s.pos.At(slot).X = randomX(i)
		s.plain.At(slot).Number = int32(of(i, n))
	}
	s.all = w.Query(s.pos, s.plain)
	made := s.sums.side(func() { groupVastByMap(s) }, n, of)
	made.close = closeVast(w)
	return made
}

// groupMatches returns the matches of a work whose entities have the given teams. together is for
// newGroupVast.
func groupMatches(of teamOf, together bool) []match {
	grouped := func(n int) side { return newGroupVast(n, of, together) }
	side := func(made func(int, teamOf) side) func(int) side {
		return func(n int) side { return made(n, of) }
	}
	return []match{
		{peerArk, grouped, side(newGroupArk), newEmptyArk},
		{peerSelf, side(newGroupVastAnew), side(newGroupVastByMap), newEmptyVast},
	}
}

// InTeam relates an entity of Ark to its team.
type InTeam struct{ ecs.RelationMarker }

type arkTeams struct {
	all   *ecs.Filter2[Position, InTeam]
	teams [teamCount]ecs.Entity
	sums  teamSums
}

//go:noinline
func groupArk(s *arkTeams) {
	for i, team := range s.teams {
		sum := 0.0
		query := s.all.Query(ecs.Rel[InTeam](team))
		for query.Next() {
			p, _ := query.Get()
			sum += p.X
		}
		s.sums[i] += sum
	}
}

func newGroupArk(n int, of teamOf) side {
	w := ecs.NewWorld(initialCapacity)
	s := &arkTeams{all: ecs.NewFilter2[Position, InTeam](w)}
	for i := range s.teams {
		s.teams[i] = w.NewEntity()
	}
	members := ecs.NewMap2[Position, InTeam](w)
	for i := range n {
		members.NewEntity(&Position{X: randomX(i)}, &InTeam{}, ecs.Rel[InTeam](s.teams[of(i, n)]))
	}
	return s.sums.side(func() { groupArk(s) }, n, of)
}
