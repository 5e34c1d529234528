package store

import (
	"unsafe"

	"github.com/vastgo/vast/internal/written"
)

// newPages returns nil if the system does not report which memory was written. Tests replace newPages.
var newPages = func() pages {
	w, err := written.New()
	if err != nil {
		return nil // the command vast doctor prints the reason
	}
	return &watchedPages{w: w}
}

// watchedPages gets the written pages from the kernel of the operating system.
type watchedPages struct {
	w     *written.Watch
	runs  []written.Run
	parts [][2]int // the results of all calls of changed() since the last scan
}

// scan drops the written pages of the previous interval, even if the checkpoint of that interval failed: the
// next checkpoint after a failure holds everything.
func (p *watchedPages) scan() {
	p.w.Keep()
	p.w.Scan()
	p.parts = p.parts[:0]
}

func (p *watchedPages) changed(base unsafe.Pointer, n int) (parts [][2]int, known bool) {
	p.runs, known = p.w.Changed(base, n, p.runs[:0])
	before := len(p.parts)
	for _, r := range p.runs {
		p.parts = append(p.parts, [2]int{r.Offset, r.Offset + r.Bytes})
	}
	return p.parts[before:], known
}

func (p *watchedPages) guard(base unsafe.Pointer, n int) bool { return p.w.Guard(base, n) }

func (p *watchedPages) release(base unsafe.Pointer, n int) bool { return p.w.Release(base, n) }

func (p *watchedPages) close() error { return p.w.Close() }
