package inspect

import (
	"database/sql"
	"sync"
	"time"
)

const (
	batchBytes = 32 << 10              // a batch of this size is sent without waiting
	batchTime  = 50 * time.Millisecond // the longest time that a row waits for other rows
)

// sqlBatch sends the rows of an answer in batches. The first row is sent without waiting.
type sqlBatch struct {
	mu    sync.Mutex // guards the other fields and the answer until end
	lines *sqlLines
	send  func() bool // sends the lines, and returns false if the client is gone or does not read
	late  *time.Timer // sends the waiting rows while the statement computes the next row
	begun bool        // whether the first row was sent
	gone  bool        // whether send has returned false
	ended bool
}

func newSQLBatch(lines *sqlLines, send func() bool) *sqlBatch {
	b := &sqlBatch{lines: lines, send: send}
	b.late = time.AfterFunc(batchTime, b.sendLate)
	b.late.Stop() // until a row waits
	return b
}

// row adds the current row. ok is false if the client is gone.
func (b *sqlBatch) row(rows *sql.Rows) (ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	empty := len(b.lines.buffer) == 0 // whether no row waits
	if err := b.lines.row(rows); err != nil {
		return false, err
	}
	switch {
	case b.gone:
	case !b.begun || len(b.lines.buffer) >= batchBytes:
		b.begun = true
		b.gone = !b.send()
		b.late.Stop()
	case empty:
		b.late.Reset(batchTime)
	}
	return !b.gone, nil
}

func (b *sqlBatch) sendLate() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended && !b.gone && len(b.lines.buffer) > 0 {
		b.gone = !b.send()
	}
}

// end gives the lines and the answer back to the caller.
func (b *sqlBatch) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.late.Stop()
}
