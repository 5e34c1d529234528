package shell

import "io"

// Marks that a terminal sends around pasted text.
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// pasteReader reads keys from a terminal. Within pasted text, it replaces each tab by a blank, so that a tab
// does not ask for a completion, and drops other ASCII control characters except line ends. The marks reach
// the editor, which ignores them.
type pasteReader struct {
	in      io.Reader
	pasting bool
	matched int // the last matched bytes that were read begin the next mark
}

// Read implements io.Reader.
func (r *pasteReader) Read(p []byte) (int, error) {
	if len(p) < len(pasteEnd) {
		// p has no room for bytes that filter held back. The editor's buffer is large enough.
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

// filter writes the bytes for the editor to p, and returns their number. In pasted text, it holds back bytes
// that may be the start of the end mark. read is a part of p. The part of p before read has room for the
// bytes that the last call held back.
func (r *pasteReader) filter(p, read []byte) (n int) {
	for _, b := range read {
		mark := pasteStart
		if r.pasting {
			mark = pasteEnd
		}
		if b != mark[r.matched] && r.matched > 0 {
			// The bytes before b are no mark. The first is an escape character, which is dropped in a paste.
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
