package journal

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is the error of Append and Rotate after Close. Wait returns ErrClosed if the journal was
	// closed before it acknowledged the record.
	ErrClosed = errors.New("journal: closed")
	// ErrFull is the error of Append if the new record and the records that are not on the disk yet would
	// have more bytes than Options.Room.
	ErrFull = errors.New("journal: the disk is too slow for the records")
)

// Damage is the error of a journal in a state that no crash can leave: a sector or a file that was durable
// has changed, is gone, or belongs to another store.
type Damage struct {
	File   string // name of the segment
	Offset int64  // offset in the file, in bytes
	Why    string
}

// Error returns the place and the remedy.
func (d *Damage) Error() string {
	return fmt.Sprintf("journal: %s is damaged at byte %d: %s; nothing was changed: restore the store's "+
		"folder from a copy", d.File, d.Offset, d.Why)
}
