package peers_test

import (
	"context"
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// A game in rounds: system sets order the systems, resources hold the rules and the state, and one system is
// exclusive.
//
// Original: Bevy, examples/ecs/ecs_guide.rs, 201 lines. Here: 86.
func Example_game() {
	type Score int
	type Streak int // positive: points in a row; negative: rounds without a point in a row
	type State struct {
		Round, Players int
		Winner         string
	}
	type Rules struct{ WinningScore, MaxRounds, MaxPlayers int }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{Workers: 1})
	defer s.Close()
	player, score := vast.NewHeapColumn[string](w), vast.NewColumn[Score](w)
	streak := vast.NewColumn[Streak](w)
	playerArchetype, players := w.Archetype(player, score, streak), w.Query(player, score, streak)
	rules := vast.SetResource(w, Rules{WinningScore: 4, MaxRounds: 10, MaxPlayers: 4})
	state := vast.SetResource(w, State{})
	ofRules, ofState := sched.Resources(sched.ResourceOf[Rules]()), sched.Resources(sched.ResourceOf[State]())

	const before, round, after = sched.Set("before"), sched.Set("round"), sched.Set("after")
	s.ConfigureSet(round, sched.SetOptions{After: []sched.Set{before}, Before: []sched.Set{after}})
	s.Add(sched.System{Name: "message", Start: func(*sched.Context) {
		for _, name := range []string{"Alice", "Bob"} {
			player.Set(playerArchetype.New(), name)
		}
		state.Players = 2
	}, Run: func(*sched.Context) { fmt.Println("this game is fun") }})
	s.Add(sched.System{Name: "new round", Sets: []sched.Set{before}, ReadsResources: ofRules,
		WritesResources: ofState, Run: func(*sched.Context) {
			state.Round++
			fmt.Println("round", state.Round, "of", rules.MaxRounds)
		}})
	s.Add(sched.System{Name: "new player", Sets: []sched.Set{before}, ReadsResources: ofRules,
		WritesResources: ofState, Run: func(c *sched.Context) {
			if c.RandomOf(0).Chance(0.5) && state.Players < rules.MaxPlayers {
				state.Players++
				e := c.Commands().New(playerArchetype)
				player.SetLater(c.Commands(), e, fmt.Sprint("Player ", state.Players))
				fmt.Println("Player", state.Players, "joins")
			}
		}})
	s.Add(sched.System{Name: "exclusive player", Sets: []sched.Set{before}, Exclusive: true,
		Run: func(c *sched.Context) {
			if c.RandomOf(0).Chance(0.5) && state.Players < rules.MaxPlayers {
				state.Players++
				player.Set(playerArchetype.New(), fmt.Sprint("Player ", state.Players))
				fmt.Println("Player", state.Players, "joins, too")
			}
		}})
	s.Add(sched.System{Name: "score", Sets: []sched.Set{round}, Reads: sched.Columns(player),
		Writes: sched.Columns(score, streak), Run: func(c *sched.Context) {
			for slot := range players.Slots() {
				points, run := score.At(slot), streak.At(slot)
				if c.Random(slot.Entity()).Chance(0.5) {
					*points++
					*run = max(*run, 0) + 1
				} else {
					*run = min(*run, 0) - 1
				}
				fmt.Println(*player.At(slot), "has", *points, "points, streak", *run)
			}
		}})
	s.Add(sched.System{Name: "check score", Sets: []sched.Set{after}, Reads: sched.Columns(player, score),
		ReadsResources: ofRules, WritesResources: ofState, Run: func(*sched.Context) {
			for slot := range players.Slots() {
				if int(*score.At(slot)) == rules.WinningScore {
					state.Winner = *player.At(slot)
				}
			}
		}})
	s.Add(sched.System{Name: "game over", Sets: []sched.Set{after}, After: []string{"check score"},
		ReadsResources: append(ofRules, ofState...), Run: func(c *sched.Context) {
			if state.Winner != "" {
				fmt.Println(state.Winner, "wins")
				c.Stop()
			} else if state.Round == rules.MaxRounds {
				fmt.Println("no winner")
				c.Stop()
			}
		}})
	s.Add(sched.System{Name: "end of round", Phase: "last", Run: func(c *sched.Context) {
		fmt.Println("end of tick", c.Tick())
	}})
	if err := s.RunTicks(context.Background(), 100); err != nil {
		panic(err)
	}
	// Output:
	// this game is fun
	// round 1 of 10
	// Player 3 joins, too
	// Alice has 1 points, streak 1
	// Bob has 0 points, streak -1
	// Player 3 has 1 points, streak 1
	// end of tick 1
	// this game is fun
	// round 2 of 10
	// Player 4 joins
	// Alice has 2 points, streak 2
	// Bob has 1 points, streak 1
	// Player 3 has 2 points, streak 2
	// Player 4 has 0 points, streak -1
	// end of tick 2
	// this game is fun
	// round 3 of 10
	// Alice has 2 points, streak -1
	// Bob has 2 points, streak 2
	// Player 3 has 2 points, streak -1
	// Player 4 has 0 points, streak -2
	// end of tick 3
	// this game is fun
	// round 4 of 10
	// Alice has 2 points, streak -2
	// Bob has 3 points, streak 3
	// Player 3 has 3 points, streak 1
	// Player 4 has 1 points, streak 1
	// end of tick 4
	// this game is fun
	// round 5 of 10
	// Alice has 2 points, streak -3
	// Bob has 3 points, streak -1
	// Player 3 has 4 points, streak 2
	// Player 4 has 2 points, streak 2
	// Player 3 wins
	// end of tick 5
}
