package shell

import "io"

// Marks that a terminal sends around pasted text.
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// pasteReader reads keys from a terminal. Within pasted text, it replaces each tab by a blank, so that a tab
// does not ask for a completion, and drops other control characters except line ends. The marks stay: the
// editor ignores them.
type pasteReader struct {
	in      io.Reader
	pasting bool
	matched int // number of bytes of the next mark that were just read
}

// Read implements io.Reader.
func (r *pasteReader) Read(p []byte) (int, error) {
	if len(p) < len(pasteEnd) {
		// Bytes of a broken mark need room. The editor's buffer is larger.
		return 0, io.ErrShortBuffer
	}
	for {
		n, err := r.in.Read(p[len(pasteEnd)-1:])
		kept := r.filter(p, p[len(pasteEnd)-1:][:n])
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}

// filter writes to p what the editor may see of the bytes read, and returns its length. read lies in p, after
// room for the bytes of a mark that the last call kept back.
func (r *pasteReader) filter(p, read []byte) (n int) {
	for _, b := range read {
		mark := pasteStart
		if r.pasting {
			mark = pasteEnd
		}
		if b != mark[r.matched] && r.matched > 0 {
			// No mark after all. Its first byte is an escape, which is not part of a pasted text.
			if r.pasting {
				n += copy(p[n:], mark[1:r.matched])
			}
			r.matched = 0
		}
		switch {
		case b == mark[r.matched]:
			if !r.pasting {
				p[n] = b
				n++
			}
			if r.matched++; r.matched == len(mark) {
				if r.pasting {
					n += copy(p[n:], mark)
				}
				r.pasting, r.matched = !r.pasting, 0
			}
			continue
		case r.pasting && b == '\t':
			b = ' '
		case r.pasting && (b < ' ' && b != '\r' && b != '\n' || b == 0x7f):
			continue
		}
		p[n] = b
		n++
	}
	return n
}
