package inspect

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/sqlnote"
)

const (
	maxStatements = 8  // largest number of statements that run at the same time
	maxNotes      = 20 // largest number of notes in an answer
	linesType     = "application/x-ndjson"
)

func (in *Inspector) sqlRoutes() []route {
	return []route{
		{method: "GET", pattern: "sql", raw: in.serveSQL, stream: true},
		{method: "POST", pattern: "sql", raw: in.serveSQL, stream: true},
		{method: "GET", pattern: "sql/tables", answer: in.sqlTables},
	}
}

// sqlRequest asks for the rows of a statement. A Limit of 0 means all rows.
type sqlRequest struct {
	Statement string       `json:"statement"`
	Args      sqlArguments `json:"args"`
	Limit     int          `json:"limit"`
	kind      sqlKind
}

func (in *Inspector) readSQLRequest(r *http.Request) (q sqlRequest, err error) {
	if r.Method != http.MethodPost {
		q.Statement = r.URL.Query().Get("q")
		q.Limit, err = wholeNumber(r, "limit", 0, 0, math.MaxInt)
	} else if err = checkJSON(r); err == nil {
		err = decodeBody(r.Body, &q, `{"statement": "SELECT x FROM position WHERE x > ?", "args": [10], `+
			`"limit": 100}`)
		if q.Limit < 0 {
			err = badRequest("limit must be 0 or more, not %d", q.Limit)
		}
	}
	if err != nil {
		return q, err
	}
	q.kind, err = in.mayRun(r, q.Statement)
	return q, err
}

// sqlEnd is the last line of an answer, unless an error has ended the statement.
type sqlEnd struct {
	Rows    int      `json:"rows"`
	More    bool     `json:"more"` // whether the limit has cut the result
	Seconds float64  `json:"seconds"`
	Changed *int64   `json:"changed,omitempty"` // number of changed rows; nil if the statement returns rows
	Notes   []string `json:"notes,omitempty"`
}

// serveSQL runs a statement and sends its rows as JSON lines. The first line has the columns. The last line
// has the number of rows, or the error that ended the statement.
func (in *Inspector) serveSQL(w http.ResponseWriter, r *http.Request) error {
	q, err := in.readSQLRequest(r)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", linesType)
		return nil
	}
	started := time.Now()
	var notes sqlNotes
	begin := in.begin
	if q.kind == sqlWrites {
		begin = in.change
	}
	s, err := begin(sqlnote.With(r.Context(), notes.add), q.Statement, q.Args...)
	if err != nil {
		return err
	}
	defer s.end()
	lines, err := newSQLLines(s.columns)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", linesType)
	w.Header().Set("X-Accel-Buffering", "no") // keeps proxies from buffering lines
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	send := func() bool {
		extend(w)
		_, err := w.Write(lines.buffer)
		lines.buffer = lines.buffer[:0]
		return err == nil && control.Flush() == nil
	}
	batch := newSQLBatch(lines, send)
	defer batch.end()
	n := 0
	for ; s.more && (q.Limit == 0 || n < q.Limit); n++ {
		if ok, err := batch.row(s.rows); err != nil {
			batch.end()
			return s.fail(lines, send, err)
		} else if !ok {
			return nil // the client is gone or does not read
		}
		s.next()
	}
	batch.end()
	if err := s.err(); err != nil {
		return s.fail(lines, send, err)
	}
	err = lines.object(sqlEnd{n, s.more, time.Since(started).Seconds(), s.changed, notes.all()})
	if err == nil {
		send()
	}
	return nil
}

// statement is an SQL statement that has run up to its first row, or to its end if it returns no rows. The
// statement counts toward maxStatements until end.
type statement struct {
	in      *Inspector
	ctx     context.Context
	text    string
	rows    *sql.Rows // nil for a statement that returns no rows
	columns []*sql.ColumnType
	more    bool   // whether rows is at a row
	changed *int64 // number of changed rows; nil for a statement that returns rows
}

// enter makes a statement that has not run yet. It returns an error if the inspector has no database, or if
// maxStatements statements already run. After a success, the caller must call end.
func (in *Inspector) enter(ctx context.Context, text string) (*statement, error) {
	if in.options.SQL == nil {
		return nil, notFound("the inspector has no SQL database: set inspect.Options.SQL, for example to " +
			"the result of vastsql.Open")
	}
	select {
	case in.running <- struct{}{}:
	default:
		return nil, tooBusy("%d statements already run: try again", maxStatements)
	}
	in.looks.Add(1)
	return &statement{in: in, ctx: ctx, text: text}, nil
}

// begin runs a statement up to its first row. After a success, the caller must call end.
func (in *Inspector) begin(ctx context.Context, text string, args ...any) (*statement, error) {
	s, err := in.enter(ctx, text)
	if err != nil {
		return nil, err
	}
	if s.rows, err = in.options.SQL.QueryContext(ctx, text, args...); err == nil {
		// ColumnTypes fails after a call of next that finds no row, because the call closes the rows.
		s.columns, err = s.rows.ColumnTypes()
	}
	if err == nil {
		if s.next(); s.more || s.rows.Err() == nil {
			return s, nil
		}
		err = s.rows.Err()
	}
	s.end()
	return nil, s.problem(err)
}

// change runs a statement that returns no rows. After a success, the caller must call end.
func (in *Inspector) change(ctx context.Context, text string, args ...any) (*statement, error) {
	s, err := in.enter(ctx, text)
	if err != nil {
		return nil, err
	}
	result, err := in.options.SQL.ExecContext(ctx, text, args...)
	if err != nil {
		s.end()
		return nil, s.problem(err)
	}
	n, _ := result.RowsAffected() // 0 if the database does not count
	s.changed = &n
	return s, nil
}

func (s *statement) next() { s.more = s.rows.Next() }

// err returns the error that ended the statement, if any.
func (s *statement) err() error {
	if s.rows == nil {
		return nil
	}
	return s.problem(s.rows.Err())
}

func (s *statement) end() {
	if s.rows != nil {
		_ = s.rows.Close()
	}
	s.in.looks.Done()
	<-s.in.running
}

// fail sends an error as the last line of an answer. If the request has ended, or if the error cannot be
// sent, fail closes the connection, so that the answer does not look complete.
func (s *statement) fail(lines *sqlLines, send func() bool, err error) error {
	if s.ctx.Err() != nil {
		panic(http.ErrAbortHandler)
	}
	err = lines.object(struct {
		Error *problem `json:"error"`
	}{problemOf(err)})
	if err != nil || !send() {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// problem turns an error of the database into an error for the client. Some errors of SQLite contain the end
// of the statement, beginning with the wrong word. For such an error, the result has the position of the
// word.
func (s *statement) problem(err error) error {
	switch {
	case err == nil || errors.Is(err, vast.ErrClosed) || errors.Is(s.ctx.Err(), context.Canceled):
		return err
	case s.ctx.Err() != nil:
		return &problem{Status: http.StatusServiceUnavailable, Code: "time", cause: err,
			Message: "the statement took too long: select fewer rows"}
	}
	p := &problem{Status: http.StatusBadRequest, Code: "sql", Message: err.Error(), cause: err}
	var placed interface{ SQL() string }
	if errors.As(err, &placed) && placed.SQL() != "" && strings.HasSuffix(s.text, placed.SQL()) {
		from := len(s.text) - len(placed.SQL())
		size, _ := tokenSize(s.text[from:])
		at, length := utf8.RuneCountInString(s.text[:from]), utf8.RuneCountInString(s.text[from:from+size])
		p.Position, p.Length = &at, &length
	}
	return p
}

// sqlNotes collects the database's notes about a statement. It keeps the first maxNotes notes.
type sqlNotes struct {
	mu   sync.Mutex
	list []string
}

func (n *sqlNotes) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) < maxNotes {
		n.list = append(n.list, text)
	}
}

func (n *sqlNotes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.list
}
