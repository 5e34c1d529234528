package inspect

import (
	"context"
	"errors"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/vastgo/vast/inspect/internal/query"
	"github.com/vastgo/vast/probe"
)

const (
	maxSearches = 8                // at a time
	queueTime   = 5 * time.Second  // that one waits for its turn
	searchTime  = 10 * time.Second // of all looks of one request together
	answerTime  = 20 * time.Second // that a request may take that answers at once
	streamTime  = 5 * time.Minute  // that one may take that answers bit by bit
)

// searches are what the inspector keeps of what is searched for.
type searches struct {
	watch func(look time.Duration) // for measurements; nil

	mu     sync.Mutex
	turns  chan struct{} // holds a token for each search that runs; nil before the first
	schema *query.Schema // nil before the first look
	ranks  []*ranks      // the last used first
	lists  []*matches    // likewise
}

// search is one request's look for entities.
type search struct {
	in     *Inspector
	ctx    context.Context
	cancel context.CancelFunc
	tree   *query.Query
	want   wanted

	schema *query.Schema
	plan   *query.Plan
	shown  []query.Named
	reader *rowReader  // of what is shown
	part   *query.Part // the number that is asked for
	wrong  error       // what does not fit the schema
	found  *query.Search

	next   int           // the first slot that was not looked at
	slots  int           // where slots ended when it last looked
	words  []uint64      // what a step found
	begin  time.Time     // of the look
	spent  time.Duration // in looks
	looks  int
	last   int    // the last look that took a step
	walked int    // looks that took steps
	before uint64 // structural changes when it began
	moved  bool   // the structure has changed since
	over   bool   // there was no time for more
}

// wanted is what a request asks for besides entities.
type wanted struct {
	columns string // to be shown
	given   bool   // whether columns was given; else those of the query are shown
	number  string // one value
	leaves  bool   // whether values within components are read, not short texts
	slots   int    // that a step looks at, at most, because more is done with each entity that is found; 0: as many as is best
}

// slotsRead is how many slots a step looks at that leads to something being done with each entity.
const slotsRead = 4 << 10

// newSearch reads a request's query. The caller ends the search.
func (in *Inspector) newSearch(r *http.Request, text string, want wanted, most time.Duration) (*search, error) {
	tree, err := query.Parse(text)
	if err != nil {
		return nil, queryProblem(err)
	}
	turns, schema := in.asked.begin()
	full := time.NewTimer(queueTime)
	defer full.Stop()
	select {
	case turns <- struct{}{}:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-full.C:
		return nil, tooBusy("%d searches run already: try again when one has ended", maxSearches)
	}
	if want.slots == 0 {
		want.slots = math.MaxInt
	}
	s := &search{in: in, tree: tree, want: want}
	s.ctx, s.cancel = context.WithTimeout(r.Context(), most)
	if schema == nil {
		schema = &query.Schema{}
	}
	s.compile(schema)
	return s, nil
}

func (s *search) end() {
	s.cancel()
	<-s.in.asked.turns
}

// begin returns what a new search takes part in.
func (q *searches) begin() (turns chan struct{}, schema *query.Schema) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turns == nil {
		q.turns = make(chan struct{}, maxSearches)
	}
	return q.turns, q.schema
}

// compile looks up names. It does so outside of looks, because it takes a while.
func (s *search) compile(schema *query.Schema) {
	s.schema, s.part, s.shown = schema, nil, nil
	if s.plan, s.wrong = query.Compile(s.tree, schema); s.wrong != nil {
		s.wrong = queryProblem(s.wrong)
		return
	}
	if s.want.given {
		if s.shown, s.wrong = query.FindNamed(s.want.columns, schema); s.wrong != nil {
			s.wrong = badRequest("columns: %v", s.wrong)
			return
		}
	} else {
		for _, c := range s.plan.Shown() {
			s.shown = append(s.shown, query.Named{Name: c.Label(), Column: c})
		}
	}
	if s.want.number != "" {
		if s.part, s.wrong = s.findNumber(); s.wrong == nil {
			s.want.slots = min(s.want.slots, s.shown[0].Column.Step())
		}
	}
	s.reader = s.in.newRowReader(s.shown, s.want.leaves)
}

// findNumber looks up the value that is asked for, and makes it the one that is shown.
func (s *search) findNumber() (*query.Part, error) {
	list, err := query.FindNamed(s.want.number, s.schema)
	if err == nil && len(list) != 1 {
		return nil, badRequest("field: name one number, such as Position.X")
	}
	if err != nil {
		return nil, badRequest("field: %v", err)
	}
	s.shown = list
	p, err := list[0].Number(query.Span{})
	if err != nil {
		return nil, badRequest("field: %v", err)
	}
	return p, nil
}

// queryProblem is an error in a text, as the client gets it.
func queryProblem(err error) error {
	var e *query.Error
	if !errors.As(err, &e) {
		return err
	}
	return &problem{Status: http.StatusBadRequest, Code: "query", Message: e.Message, Position: &e.Position, Length: &e.Length}
}

// look has f called as [Inspector.look] does, with the targets found. When the time of a search is over it ends, which is no
// error: see search.over.
func (s *search) look(f func() (done bool)) error {
	for {
		var columns []column
		err := s.in.look(s.ctx, func() (done bool) {
			s.begin = time.Now()
			s.looks++
			defer func() {
				took := time.Since(s.begin)
				s.spent += took
				if s.in.asked.watch != nil {
					s.in.asked.watch(took)
				}
			}()
			if s.found == nil {
				if columns = s.in.model.look(); len(columns) != len(s.schema.Columns) {
					return true
				}
				columns = nil
				if !s.bind() {
					return true
				}
			}
			s.moved = s.moved || s.in.world.Changes() != s.before
			if s.spent > searchTime {
				s.over = true
				return true
			}
			return f()
		})
		switch {
		case err != nil:
			if errors.Is(s.ctx.Err(), context.DeadlineExceeded) && s.found != nil {
				s.over = true
				return nil
			}
			return err
		case columns == nil:
			return s.wrong
		}
		s.compile(s.in.asked.schemaOf(columns)) // columns were made since
	}
}

// bind finds the targets, and reports whether there are such.
func (s *search) bind() bool {
	if s.wrong != nil {
		return false
	}
	s.before = s.in.world.Changes()
	_, named := probe.NamesOf(s.in.world)
	found, err := s.plan.Bind(s.in.world, queryNames{s.in.namer()}, named && s.in.options.Names == nil)
	if err != nil {
		s.wrong = queryProblem(err)
		return false
	}
	s.found = found
	s.words = make([]uint64, found.Step()/64)
	return true
}

// late reports whether a look should end.
func (s *search) late() bool { return time.Since(s.begin) > lookTime }

// step looks at the next slots and returns the first of them and what it found there. It returns false behind the last.
func (s *search) step() (lo int, words []uint64, n int, ok bool) {
	if s.slots = s.in.world.Slots(); s.next >= s.slots || len(s.words) == 0 {
		return s.next, nil, 0, false
	}
	if s.last != s.looks {
		s.last = s.looks
		s.walked++
	}
	lo = s.next
	words = s.words[:min(s.found.Step()/64, s.want.slots/64, len(s.words))]
	clear(words)
	s.next += 64 * len(words)
	return lo, words, s.found.Words(lo, s.next, words), true
}

// walk has found told of all that is found, until it says that it has enough. Then it may be called again to go on.
func (s *search) walk(found func(lo int, words []uint64, n int) (enough bool)) error {
	return s.look(func() (done bool) {
		for {
			lo, words, n, ok := s.step()
			if !ok || n > 0 && found(lo, words, n) {
				return true
			}
			if s.late() {
				return false
			}
		}
	})
}

// scanned returns how many slots were looked at.
func (s *search) scanned() int { return min(s.next, s.slots) }

// whole reports whether what was found is that of one moment.
func (s *search) whole() bool {
	return !s.over && (s.walked <= 1 || s.found.Plain() && !s.moved)
}

// schemaOf returns the schema of a world's columns, and keeps it. It takes a while: call it outside of looks.
func (q *searches) schemaOf(columns []column) *query.Schema {
	if _, kept := q.begin(); kept != nil && len(kept.Columns) == len(columns) {
		return kept
	}
	list := make([]query.Column, len(columns))
	for i, c := range columns {
		col := query.Column{AnyColumn: c.col, ID: c.ID, Storage: c.info.Storage, Type: c.info.Type, Relation: c.Relation,
			Linked: c.info.Linked != "", Private: c.info.Private}
		for _, f := range c.fields() {
			col.Values = append(col.Values, query.Part{Path: f.Path, Kind: query.Kind(f.Kind), Offset: f.offset, Type: f.typ})
		}
		list[i] = col
	}
	schema := query.NewSchema(list)
	q.mu.Lock()
	q.schema = schema
	q.mu.Unlock()
	return schema
}

// queryNames are a Namer for queries.
type queryNames struct{ Namer }

func (n queryNames) Suggest(prefix string, most int) (list []query.Suggestion) {
	for _, s := range n.Namer.Suggest(prefix, most) {
		list = append(list, query.Suggestion(s))
	}
	return list
}
