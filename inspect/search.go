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
	maxSearches = 8                // limit of the number of concurrent searches
	queueTime   = 5 * time.Second  // longest wait until a search may run
	searchTime  = 10 * time.Second // limit of the total duration of a request's looks (see search)
	answerTime  = 20 * time.Second // limit of the duration of a request with one answer
	streamTime  = 5 * time.Minute  // limit of the duration of a request with a streamed answer
)

// searches is the state that all searches share.
type searches struct {
	watch func(look time.Duration) // receives the duration of each look; nil outside of benchmarks

	mu     sync.Mutex
	turns  chan struct{} // holds a token for each running search; nil before the first search
	schema *query.Schema // nil before the first look
	ranks  []*ranks      // most recently used first
	lists  []*matches    // most recently used first
}

// search finds the entities of one request in one or several looks. A look is a visit to the world between
// ticks.
type search struct {
	in     *Inspector
	ctx    context.Context
	cancel context.CancelFunc
	tree   *query.Query
	want   wanted

	schema *query.Schema
	plan   *query.Plan
	shown  []query.Named
	reader *rowReader  // for the shown columns
	part   *query.Part // the request's numeric field; nil if it names no field
	wrong  error       // error that makes the request invalid; nil if there is none
	found  *query.Search

	next   int           // first slot of the next step
	slots  int           // number of the world's slots at the last step
	words  []uint64      // bit set of the matches of the last step
	begin  time.Time     // start of the current look
	spent  time.Duration // total duration of the looks
	looks  int           // number of looks so far
	last   int           // value of looks at the last step
	walked int           // number of looks with at least one step
	before uint64        // number of the world's structural changes at the start of the search
	moved  bool          // whether the structure has changed since the start of the search
	over   bool          // whether the time of the search ran out
}

// wanted describes what a request needs besides the matching entities.
type wanted struct {
	columns string // columns to show
	given   bool   // whether the request names columns; if false, the columns of the query are shown
	number  string // one numeric field, such as Position.X
	leaves  bool   // whether rows hold the values of fields, instead of short texts
	slots   int    // limit of the slots in a step; 0 means no limit
}

// slotsRead is the number of slots in a step of a search that reads each match.
const slotsRead = 4 << 10

// newSearch parses a query and waits until fewer than maxSearches searches run. The caller must call end
// after the search.
func (in *Inspector) newSearch(r *http.Request, text string, want wanted, most time.Duration) (*search,
	error) {
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
		return nil, tooBusy("%d searches already run: try again later", maxSearches)
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

func (q *searches) begin() (turns chan struct{}, schema *query.Schema) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turns == nil {
		q.turns = make(chan struct{}, maxSearches)
	}
	return q.turns, q.schema
}

// compile resolves the names in the request. Do not call compile in a look, because it takes a while.
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

// findNumber finds the numeric field that the request names. The field becomes the only shown column.
func (s *search) findNumber() (*query.Part, error) {
	list, err := query.FindNamed(s.want.number, s.schema)
	if err == nil && len(list) != 1 {
		return nil, badRequest("field: name one numeric field, such as Position.X")
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

func queryProblem(err error) error {
	var e *query.Error
	if !errors.As(err, &e) {
		return err
	}
	return &problem{Status: http.StatusBadRequest, Code: "query", Message: e.Message, Position: &e.Position,
		Length: &e.Length}
}

// look calls f as [Inspector.look] does. The first call also binds the query. If the time of the search runs
// out after the query is bound, look returns nil and sets search.over.
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
		s.compile(s.in.asked.schemaOf(columns)) // the world has columns that the schema lacks
	}
}

// bind finds the entities that the query names. If the request is invalid, bind returns false.
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

func (s *search) late() bool { return time.Since(s.begin) > lookTime }

// step searches the next slots, beginning with slot lo. words is a bit set of the matching slots, and n is
// their number. ok is false if no slot is left.
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

// walk takes steps until no slot is left or found returns true. It calls found after each step with matches.
// The next call of walk continues after the last step.
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

func (s *search) scanned() int { return min(s.next, s.slots) }

// whole reports whether the result is complete and describes the world at one moment.
func (s *search) whole() bool {
	// Disabling an entity is no change of the structure.
	return !s.over && (s.walked <= 1 || s.found.Plain() && !s.moved && !s.plan.NamesDisabled())
}

// schemaOf returns the schema of a world's columns, and caches it. Do not call schemaOf in a look, because it
// takes a while.
func (q *searches) schemaOf(columns []column) *query.Schema {
	if _, kept := q.begin(); kept != nil && len(kept.Columns) == len(columns) {
		return kept
	}
	list := make([]query.Column, len(columns))
	for i, c := range columns {
		col := query.Column{AnyColumn: c.col, ID: c.ID, Storage: c.info.Storage, Type: c.info.Type,
			Relation: c.Relation,
			Linked:   c.info.Linked != "", Private: c.info.Private, Disabled: c.info.Disabled}
		for _, f := range c.fields() {
			col.Values = append(col.Values, query.Part{Path: f.Path, Kind: query.Kind(f.Kind),
				Offset: f.offset, Type: f.typ})
		}
		list[i] = col
	}
	schema := query.NewSchema(list)
	q.mu.Lock()
	q.schema = schema
	q.mu.Unlock()
	return schema
}

// queryNames adapts a Namer to queries.
type queryNames struct{ Namer }

func (n queryNames) Suggest(prefix string, most int) (list []query.Suggestion) {
	for _, s := range n.Namer.Suggest(prefix, most) {
		list = append(list, query.Suggestion(s))
	}
	return list
}
