package inspect

import (
	"slices"
	"testing"

	"github.com/vastgo/vast/sched"
)

type phaseOfGame int

// TestSystemsSwitched: the JSON and the page show sets, rates, disabled systems and states.
func TestSystemsSwitched(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	other := sched.New(f.w, sched.Options{Workers: 1})
	defer other.Close()
	nothing := func(*sched.Context) {}
	sched.NewState(other, phaseOfGame(3))
	other.ConfigureSet("physics", sched.SetOptions{})
	other.Add(sched.System{Name: "steer", Sets: []sched.Set{"physics"}, Every: 4, Offset: 1, Run: nothing})
	other.Add(sched.System{Name: "weigh", Rate: 25, Run: nothing})
	other.Disable("physics")
	if err := other.Build(); err != nil {
		t.Fatal(err)
	}
	var a systemsAnswer
	f.get(t, "systems", &a)
	s := a.Schedules[1]
	steer, weigh := s.Systems[0], s.Systems[1]
	if !slices.Equal(steer.Sets, []string{"physics"}) || steer.Every != 4 || steer.Offset != 1 ||
		steer.Rate != 0 || len(weigh.Sets) != 0 || weigh.Rate != 25 {
		t.Errorf("systems %+v", s.Systems)
	}
	if !s.Stats.Systems[0].Disabled || s.Stats.Systems[1].Disabled ||
		!slices.Equal(s.Stats.States, []stateEntry{{"inspect.phaseOfGame", "3"}}) {
		t.Errorf("statistics %+v", s.Stats)
	}

	p := openSystems(t, f)
	p.Until("document.querySelectorAll('.systems-control option').length === 2")
	p.Eval(`(() => {
		const s = document.querySelector('.systems-control select');
		s.selectedIndex = 1;
		s.dispatchEvent(new Event('change'));
	})()`, nil)
	p.waitText(".graph-node[data-system=steer]", "in physics; one in 4 ticks")
	p.waitText(".graph-node[data-system=steer] .graph-cost", "disabled")
	p.waitText(".graph-node[data-system=weigh]", "25 times a second")
	p.waitText(".systems-states", "inspect.phaseOfGame: 3")
}
