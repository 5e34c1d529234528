package metamorphic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

// task is the input of a job.
type task struct{ key, v uint64 }

// addJobs adds a system that starts jobs, and a system that adds the results to the first column two ticks
// later. In some ticks, the first system tries to start more jobs than the limit permits.
func (p *player) addJobs() {
	a := p.columns[0]
	q := p.world.Query(p.key, a.In())
	jobs := sched.NewJobs(p.schedule, work, sched.JobsOptions{Ticks: 2, Limit: 6, Workers: p.Workers})
	p.schedule.Add(sched.System{Name: "start", Reads: sched.Columns(p.key, a.In()),
		WritesResources: sched.Resources(jobs.Resource()),
		Run: func(c *sched.Context) {
			tasks := sched.Reduce(c, q, 64, func(_ *sched.Context, part vast.Batch) (found []task) {
				for e := range part.All() {
					if v, _ := a.Get(e); v%8 == uint64(p.turn) {
						found = append(found, task{p.keyOf(e), v})
					}
				}
				return found
			}, func(x, y []task) []task { return append(x, y...) })
			slices.SortFunc(tasks, func(x, y task) int { return cmp.Compare(x.key, y.key) })
			for _, t := range tasks {
				if err := jobs.Start(c, t); errors.Is(err, sched.ErrJobLimit) {
					p.worked = append(p.worked, fmt.Sprint("refused ", t))
				} else if err != nil {
					panic(err)
				}
			}
		}})
	p.schedule.Add(sched.System{Name: "finish", Reads: sched.Columns(p.key), Writes: sched.Columns(a.In()),
		WritesResources: sched.Resources(jobs.Resource()),
		Run: func(c *sched.Context) {
			results := map[uint64]uint64{}
			for t, result := range jobs.Results(c) {
				results[t.key] += result
				p.worked = append(p.worked, fmt.Sprint("ended ", t, result))
			}
			if len(results) == 0 {
				return
			}
			c.Each(q, 64, func(_ *sched.Context, part vast.Batch) {
				for e := range part.All() {
					if result, ok := results[p.keyOf(e)]; ok {
						a.Edit(e, func(v uint64) uint64 { return v + result })
					}
				}
			})
		}})
}

// work is the function of the jobs. On several goroutines, later jobs often end before earlier jobs.
func work(_ context.Context, t task) (result uint64) {
	for range (t.key ^ t.v) % 16 {
		runtime.Gosched()
	}
	return t.key*31 + t.v
}
