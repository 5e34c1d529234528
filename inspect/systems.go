package inspect

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/vastgo/vast/sched"
)

const maxSchedules = 16 // limit of the schedules that an answer lists

// systemsAnswer describes the schedules and the Control of a world. Times are in seconds.
type systemsAnswer struct {
	Control   controlAnswer    `json:"control"`
	Schedules []scheduleAnswer `json:"schedules"` // open schedules, the oldest first
}

type scheduleAnswer struct {
	ID      uint64        `json:"id"`
	Main    bool          `json:"main"` // whether mainSchedule returns this schedule
	Workers int           `json:"workers"`
	Rate    int           `json:"rate"` // ticks per second of simulated time
	CatchUp int           `json:"catchUp"`
	Systems []systemEntry `json:"systems"` // in the order of a run with one worker
	Edges   []sched.Edge  `json:"edges"`
	Stats   scheduleStats `json:"stats"`
}

type systemEntry struct {
	Name            string   `json:"name"`
	Phase           string   `json:"phase"`
	Exclusive       bool     `json:"exclusive"`
	Sets            []string `json:"sets"`
	Every           int      `json:"every"`  // runs in one of this many ticks; 0 if the system has no Every
	Rate            int      `json:"rate"`   // runs per second of simulated time; 0 if the system has no Rate
	Offset          int      `json:"offset"` // ticks by which the runs of Every or Rate are moved
	Reads           []string `json:"reads"`
	Writes          []string `json:"writes"`
	ReadsResources  []string `json:"readsResources"`
	WritesResources []string `json:"writesResources"`
}

// scheduleStats are the statistics of a schedule up to its last tick.
type scheduleStats struct {
	ID              uint64        `json:"id"`            // ID of the schedule
	Running         bool          `json:"running"`       // whether sched.Schedule.Run is running
	Budget          float64       `json:"budgetSeconds"` // planned time between ticks; 0 if unknown
	Tick            uint64        `json:"tick"`
	Late            uint64        `json:"late"`
	Dropped         uint64        `json:"dropped"`
	CommandsDone    uint64        `json:"commandsDone"`
	CommandsSkipped uint64        `json:"commandsSkipped"`
	Ticks           timeStats     `json:"ticks"`
	RecentTicks     timeStats     `json:"recentTicks"` // the last 256 ticks
	Applying        timeStats     `json:"applying"`    // the application of commands
	RecentApplying  timeStats     `json:"recentApplying"`
	Systems         []systemTimes `json:"systems"`
	States          []stateEntry  `json:"states"`
	Events          []eventStats  `json:"events"` // queues of package event
	Jobs            []jobStats    `json:"jobs"`   // background jobs
}

type jobStats struct {
	Name     string  `json:"name"`
	InFlight int     `json:"inFlight"`
	Started  uint64  `json:"started"`
	Late     uint64  `json:"late"`          // results for which a tick waited
	Waited   float64 `json:"waitedSeconds"` // time for which ticks waited
	Longest  float64 `json:"longestSeconds"`
}

type eventStats struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Last  int    `json:"last"` // number of events of the last tick
	Total uint64 `json:"total"`
	Bytes int    `json:"bytes"` // committed memory
}

// stateEntry is a state of a schedule, such as the mode of a game.
type stateEntry struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type systemTimes struct {
	Name     string    `json:"name"`
	Disabled bool      `json:"disabled"` // whether the system or one of its sets is disabled
	Times    timeStats `json:"times"`
	Recent   timeStats `json:"recent"` // the last 256 ticks in which the system ran
}

// timeStats summarizes durations, in seconds.
type timeStats struct {
	Count uint64  `json:"count"` // number of durations
	Total float64 `json:"total"`
	Last  float64 `json:"last"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// systemsEvent is the value of the topic systems.
type systemsEvent struct {
	Control   controlAnswer   `json:"control"`
	Schedules []scheduleStats `json:"schedules"`
}

func (in *Inspector) systemsRoutes() []route {
	return []route{
		{method: "GET", pattern: "systems", answer: func(*http.Request) (any,
			error) {
			return in.describeSystems(), nil
		}},
		{method: "GET", pattern: "systems/timeline", answer: in.serveTimeline},
	}
}

func (in *Inspector) systemsTopics() []topic {
	return []topic{{name: "systems", every: time.Second, make: func(context.Context, string) (any, error) {
		e, main := systemsEvent{in.controlState(), []scheduleStats{}}, in.mainSchedule()
		for _, s := range in.schedules() {
			e.Schedules = append(e.Schedules, in.statsOf(s, s == main))
		}
		return e, nil
	}}}
}

// schedules returns the open schedules of the world, at most the maxSchedules oldest.
func (in *Inspector) schedules() []*sched.Schedule {
	list := sched.Of(in.world)
	return list[:min(len(list), maxSchedules)]
}

// mainSchedule returns the running schedule. If no schedule runs, mainSchedule returns the schedule with the
// most ticks, or nil if the world has no schedule.
func (in *Inspector) mainSchedule() *sched.Schedule {
	var most *sched.Schedule
	var ticks uint64
	for _, s := range in.schedules() {
		if s.Running() {
			return s
		}
		if n, _ := s.Recent(^uint64(0), nil); most == nil || n > ticks {
			most, ticks = s, n
		}
	}
	return most
}

// askedSchedule returns the schedule that a request names. If the request names none, askedSchedule returns
// the main schedule.
func (in *Inspector) askedSchedule(r *http.Request) (*sched.Schedule, error) {
	text := r.URL.Query().Get("schedule")
	if text == "" {
		if s := in.mainSchedule(); s != nil {
			return s, nil
		}
		return nil, &problem{Status: http.StatusNotFound, Code: "noSchedule",
			Message: "the world has no open schedule: the program can make one with package sched"}
	}
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, badRequest("schedule must be the ID of a schedule, which is a number, not %.40q", text)
	}
	for _, s := range in.schedules() {
		if s.ID() == id {
			return s, nil
		}
	}
	return nil, notFound("the world has no open schedule %d", id)
}

func (in *Inspector) describeSystems() systemsAnswer {
	a := systemsAnswer{in.controlState(), []scheduleAnswer{}}
	main := in.mainSchedule()
	for _, s := range in.schedules() {
		o, g := s.Options(), s.Graph()
		d := scheduleAnswer{
			ID: s.ID(), Main: s == main, Workers: o.Workers, Rate: o.Rate, CatchUp: o.CatchUp,
			Systems: make([]systemEntry, 0, len(g.Systems)), Edges: append([]sched.Edge{}, g.Edges...),
			Stats: in.statsOf(s, s == main),
		}
		for _, sys := range g.Systems {
			d.Systems = append(d.Systems, systemEntry{
				sys.Name, string(sys.Phase), sys.Exclusive,
				append([]string{}, sys.Sets...), sys.Every, sys.Rate, sys.Offset,
				append([]string{}, sys.Reads...), append([]string{}, sys.Writes...),
				append([]string{}, sys.ReadsResources...), append([]string{}, sys.WritesResources...),
			})
		}
		a.Schedules = append(a.Schedules, d)
	}
	return a
}

func (in *Inspector) statsOf(s *sched.Schedule, main bool) scheduleStats {
	var control Control
	if main {
		control = in.control()
	}
	st, budget := pace(s, control)
	e := scheduleStats{
		ID: s.ID(), Running: s.Running(), Budget: budget.Seconds(), Tick: st.Tick, Late: st.Late,
		Dropped:      st.Dropped,
		CommandsDone: uint64(st.Commands.Done), CommandsSkipped: uint64(st.Commands.Skipped),
		Ticks: timeStatsOf(st.Ticks), RecentTicks: timeStatsOf(st.RecentTicks),
		Applying: timeStatsOf(st.Applying), RecentApplying: timeStatsOf(st.RecentApplying),
		Systems: make([]systemTimes, 0, len(st.Systems)), States: make([]stateEntry, 0, len(st.States)),
		Events: make([]eventStats, 0, len(st.Events)), Jobs: make([]jobStats, 0, len(st.Jobs)),
	}
	for _, state := range st.States {
		e.States = append(e.States, stateEntry(state))
	}
	for _, q := range st.Events {
		e.Events = append(e.Events, eventStats(q))
	}
	for _, j := range st.Jobs {
		e.Jobs = append(e.Jobs, jobStats{j.Name, j.InFlight, j.Started, j.Late, j.Waited.Seconds(),
			j.Longest.Seconds()})
	}
	for _, sys := range st.Systems {
		e.Systems = append(e.Systems, systemTimes{sys.Name, sys.Disabled, timeStatsOf(sys.Times),
			timeStatsOf(sys.Recent)})
	}
	return e
}

func timeStatsOf(t sched.Times) timeStats {
	return timeStats{t.Count, t.Total.Seconds(), t.Last.Seconds(), t.P50.Seconds(), t.P99.Seconds(),
		t.Max.Seconds()}
}
