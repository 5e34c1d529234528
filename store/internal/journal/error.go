package journal

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is the error of Append and Rotate after Close. It is also the error of calls that wait for a
	// record that Close has not made durable or that was held back.
	ErrClosed = errors.New("journal: closed")
	// ErrFull is the error of Append if the records that are not on the disk yet leave no room for the new
	// record in Options.Room.
	ErrFull = errors.New("journal: the disk is too slow for the records")
)

// Damage is the error of a journal in a state that no crash can leave: a sector or a file that was durable
// has changed or is gone.
type Damage struct {
	File   string // name of the segment
	Offset int64  // where in the file
	Why    string
}

// Error returns the place and the remedy.
func (d *Damage) Error() string {
	return fmt.Sprintf("journal: %s is damaged at byte %d: %s; nothing was changed: restore the store's "+
		"folder from a copy", d.File, d.Offset, d.Why)
}
