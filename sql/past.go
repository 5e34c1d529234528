package vastsql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rqlite/sql"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/store"
)

// past opens checkpoints in the folder of a store for the statements of a database.
type past struct {
	dir    string // empty for a world without a store
	o      Options
	tables map[string][]string // Options.Tables, with names instead of columns

	lock   chan struct{} // holds a value while a goroutine uses the fields below
	last   *stored       // the checkpoint that a statement opened last; it stays open for the next statement
	closed bool          // whether the database is closed
}

// stored is an open checkpoint.
type stored struct {
	*connector
	number uint64 // of the checkpoint
	tick   uint64
	lacks  []string // the data that only the program that saved the checkpoint can read
}

var errNoStore = errors.New("vastsql: AS OF TICK reads a stored moment: set Options.Store to the folder of " +
	"the store")

// newPast stores the tables of o by the names of their columns, because each checkpoint becomes a world with
// columns of its own.
func newPast(o Options) *past {
	p := &past{dir: o.Store, o: storedOptions(o), tables: map[string][]string{}, lock: make(chan struct{}, 1)}
	p.o.Store, p.o.Tables = "", nil
	for name, columns := range o.Tables {
		for _, c := range columns {
			p.tables[name] = append(p.tables[name], probe.Describe(c).Name)
		}
	}
	return p
}

// prepare prepares a statement about a checkpoint. choose selects one of the checkpoints, which are sorted
// from the oldest to the newest.
func (p *past) prepare(ctx context.Context, text string,
	choose func([]store.File) (store.File, error)) (*storedStmt, error) {
	s, err := p.acquire(ctx, choose)
	if err != nil {
		return nil, err
	}
	inner, err := s.Connect(ctx)
	if left := s.leave(); left != nil && err == nil {
		return nil, errors.Join(left, inner.Close())
	} else if err = errors.Join(err, left); err != nil {
		return nil, err
	}
	c := inner.(*conn)
	prepared, err := c.PrepareContext(ctx, text)
	if err != nil {
		if len(s.lacks) > 0 && strings.Contains(err.Error(), "no such table") {
			err = fmt.Errorf("%w; only the program that saved the checkpoint can read %s", err,
				strings.Join(s.lacks, ", "))
		}
		return nil, errors.Join(err, c.Close())
	}
	return &storedStmt{prepared.(*stmt), s.tick}, nil
}

// acquire returns the checkpoint that choose selects, and opens the checkpoint if it is not open. The caller
// must call the method leave of the result.
func (p *past) acquire(ctx context.Context, choose func([]store.File) (store.File, error)) (*stored, error) {
	if p.dir == "" {
		return nil, errNoStore
	}
	select {
	case p.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-p.lock }()
	if p.closed {
		return nil, errors.New("vastsql: the database is closed")
	}
	for retries := 10; ; retries-- {
		kept, err := checkpoints(p.dir)
		if err != nil {
			return nil, err
		}
		f, err := choose(kept)
		if err != nil {
			return nil, err
		}
		if p.last == nil || p.last.number != f.Number {
			var s *stored
			if s, err = p.open(f); err == nil {
				err = p.replace(s)
			}
		}
		if err == nil {
			p.last.users.Add(1)
			return p.last, nil
		}
		// If the file does not exist, the program has removed the checkpoint since the listing.
		if !errors.Is(err, fs.ErrNotExist) || retries == 0 {
			return nil, err
		}
	}
}

// open opens a checkpoint. If the checkpoint lacks a column of a table of Options.Tables, the table is
// missing.
func (p *past) open(f store.File) (*stored, error) {
	w, report, err := store.LoadMoment(p.dir, f.Number, vast.Options{})
	if err != nil {
		return nil, err
	}
	o := p.o
	o.Tables = map[string][]vast.AnyColumn{}
	columns := probe.Columns(w)
	for name, wanted := range p.tables {
		var found []vast.AnyColumn
		for _, n := range wanted {
			if i := slices.IndexFunc(columns, func(c vast.AnyColumn) bool {
				return probe.Describe(c).Name == n
			}); i >= 0 {
				found = append(found, columns[i])
			}
		}
		if len(found) == len(wanted) {
			o.Tables[name] = found
		}
	}
	c, err := newStoredConnector(w, o)
	if err != nil {
		return nil, err
	}
	return &stored{connector: c, number: f.Number, tick: f.Tick, lacks: report.Dropped}, nil
}

// replace keeps s open, and releases the previously open checkpoint. If s is nil, no checkpoint stays open.
// The caller must hold the lock.
func (p *past) replace(s *stored) error {
	old := p.last
	p.last = s
	if old == nil {
		return nil
	}
	return old.leave()
}

// close releases the checkpoint that stays open for the next statement.
func (p *past) close() error {
	p.lock <- struct{}{}
	defer func() { <-p.lock }()
	p.closed = true
	return p.replace(nil)
}

// checkpoints lists the checkpoints in a folder from the oldest to the newest, without those for which
// store.Files reports an error.
func checkpoints(dir string) ([]store.File, error) {
	files, err := store.Files(dir)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f store.File) bool {
		return f.Kind != store.FileCheckpoint || f.Err != nil
	})
	slices.SortFunc(files, func(a, b store.File) int { return int(a.Number) - int(b.Number) })
	if len(files) == 0 {
		return nil, fmt.Errorf("vastsql: the folder %q holds no checkpoint that can be read", dir)
	}
	return files, nil
}

func newest(kept []store.File) (store.File, error) { return kept[len(kept)-1], nil }

// ofTick returns a function that selects the newest checkpoint of a tick.
func ofTick(tick uint64) func(kept []store.File) (store.File, error) {
	return func(kept []store.File) (store.File, error) {
		after := len(kept)
		for i, f := range slices.Backward(kept) {
			if f.Tick == tick {
				return f, nil
			}
			if f.Tick > tick {
				after = i
			}
		}
		var near []string
		for _, f := range kept[max(0, after-1):min(len(kept), after+1)] {
			near = append(near, fmt.Sprint(f.Tick))
		}
		return store.File{}, fmt.Errorf("vastsql: the store keeps no checkpoint of tick %d; the nearest "+
			"checkpoints are of tick %s; the table vast_checkpoints lists all", tick,
			strings.Join(near, ", "))
	}
}

// storedStmt is a statement about a checkpoint, with a connection of its own.
type storedStmt struct {
	*stmt
	tick uint64
}

// Close closes the statement and its connection.
func (s *storedStmt) Close() error { return errors.Join(s.stmt.Close(), s.stmt.conn.Close()) }

// cutAsOf splits a statement that ends in AS OF TICK n into the text before these words and the number n. ok
// reports whether the statement ends in this way. A comment or a semicolon may follow the words.
func cutAsOf(text string) (rest string, tick uint64, ok bool, err error) {
	if !strings.Contains(strings.ToLower(text), "tick") {
		return text, 0, false, nil
	}
	type token struct {
		sql.Token
		text  string
		start int // in characters
	}
	var last []token
	s := sql.NewScanner(strings.NewReader(text))
	for {
		at, kind, text := s.Scan()
		if kind == sql.EOF || kind == sql.ILLEGAL {
			break
		}
		if kind != sql.COMMENT && kind != sql.SEMI {
			last = append(last, token{kind, text, at.Offset})
			last = last[max(0, len(last)-4):]
		}
	}
	if len(last) < 4 || last[0].Token != sql.AS || last[1].Token != sql.OF || last[2].Token != sql.IDENT ||
		!strings.EqualFold(last[2].text, "tick") {
		return text, 0, false, nil
	}
	if tick, err = strconv.ParseUint(last[3].text, 10, 64); err != nil {
		return "", 0, true, fmt.Errorf("vastsql: AS OF TICK %s: write the number of a tick, such as "+
			"AS OF TICK 1200", last[3].text)
	}
	at := 0
	for range last[0].start {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return text[:at], tick, true, nil
}
