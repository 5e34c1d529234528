package inspect

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/vastgo/vast"
)

// maxCosts bounds the number of listed systems and the number of listed columns.
const maxCosts = 200

// If the column statistics are older than surveyTime, the method costs asks for new statistics.
const surveyTime = time.Second - time.Second/10

// overview is the newest sample, with the history of samples.
type overview struct {
	Now     Sample   `json:"now"`
	History []Sample `json:"history"`
}

func (in *Inspector) overviewRoutes() []route {
	return []route{
		{method: "GET", pattern: "overview", answer: func(r *http.Request) (any, error) {
			now, _, err := in.sampler.latest(r.Context())
			return overview{now, in.sampler.past()}, err
		}},
		{method: "GET", pattern: "costs", answer: func(r *http.Request) (any, error) {
			return in.sampler.costs(r.Context())
		}},
	}
}

func (in *Inspector) overviewTopics() []topic {
	return []topic{
		{name: "overview", every: sampleTime, make: func(ctx context.Context, _ string) (any, error) {
			now, _, err := in.sampler.latest(ctx)
			return now, err
		}},
		{name: "costs", every: sampleTime, make: func(ctx context.Context, _ string) (any, error) {
			return in.sampler.costs(ctx)
		}},
	}
}

// costs returns the time that systems take and the memory that columns take.
func (s *sampler) costs(ctx context.Context) (Costs, error) {
	now, systems, err := s.latest(ctx)
	if err != nil {
		return Costs{}, err
	}
	columns, _ := s.survey.ask(s.ctx, surveyTime, letInTime)
	c := Costs{At: now.At, Systems: systems[:min(len(systems), maxCosts)],
		Columns: columnCosts(columns.columns)}
	c.MoreSystems, c.MoreColumns = len(systems)-len(c.Systems), len(columns.columns)-len(c.Columns)
	return c, nil
}

// columnCosts returns the costs of at most maxCosts columns, the largest columns first.
func columnCosts(columns []vast.ColumnStats) []ColumnCost {
	costs := make([]ColumnCost, 0, len(columns))
	for _, c := range columns {
		costs = append(costs, ColumnCost{c.Name, c.Type, c.Size, c.Entities, c.Slots, c.Reserved,
			c.Committed})
	}
	slices.SortStableFunc(costs, func(a, b ColumnCost) int {
		return cmp.Or(cmp.Compare(b.Committed, a.Committed), cmp.Compare(b.Entities, a.Entities))
	})
	return costs[:min(len(costs), maxCosts)]
}
