package inspect

import (
	"context"
	"errors"
	"net/http"

	"github.com/vastgo/vast/inspect/internal/query"
)

type checkAnswer struct {
	Valid   bool     `json:"valid"`
	Columns []string `json:"columns"` // columns that the query shows
	Error   *problem `json:"error,omitempty"`
}

// checkQuery answers whether a text is a valid query. If the query is invalid, the answer holds the error.
func (in *Inspector) checkQuery(r *http.Request) (any, error) {
	a := checkAnswer{Columns: []string{}}
	s, err := in.newSearch(r, r.URL.Query().Get("text"), wanted{}, answerTime)
	if err == nil {
		defer s.end()
		err = s.look(func() bool { return true })
	}
	var p *problem
	switch {
	case errors.As(err, &p) && p.Code == "query":
		a.Error = p
		return a, nil
	case err != nil:
		return nil, err
	}
	a.Valid = true
	for _, n := range s.shown {
		a.Columns = append(a.Columns, n.Name)
	}
	return a, nil
}

// completeAnswer lists the possible continuations of a text. Each item replaces the characters [From, To).
type completeAnswer struct {
	From  int          `json:"from"`
	To    int          `json:"to"`
	Items []query.Item `json:"items"`
}

const maxSuggestedNames = 20

// completeQuery answers with the possible continuations of a text at a cursor.
func (in *Inspector) completeQuery(r *http.Request) (any, error) {
	text := r.URL.Query().Get("text")
	cursor, err := wholeNumber(r, "at", len([]rune(text)), 0, 1<<20)
	if err != nil {
		return nil, err
	}
	schema, err := in.currentSchema(r.Context())
	if err != nil {
		return nil, err
	}
	c := query.Complete(text, cursor, schema)
	if prefix, ok := c.WantsNames(); ok {
		err := in.look(r.Context(), func() bool {
			c.AddNames(queryNames{in.namer()}.Suggest(prefix, maxSuggestedNames))
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return completeAnswer{c.From, c.To, append([]query.Item{}, c.Items...)}, nil
}

func (in *Inspector) currentSchema(ctx context.Context) (*query.Schema, error) {
	var columns []column
	err := in.look(ctx, func() bool {
		columns = in.model.look()
		return true
	})
	if err != nil {
		return nil, err
	}
	return in.asked.schemaOf(columns), nil
}
