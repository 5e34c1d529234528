package top

import (
	"strings"

	"github.com/vastgo/vast/cmd/vast/internal/attach"
)

// tone is what a piece of text is to its reader; the screen gives it a colour.
type tone uint8

const (
	plain tone = iota
	dim
	strong
	accent
	good
	warn
	bad
)

// span is a piece of clean text.
type span struct {
	text string
	tone tone
}

// line is one of the page: spans from left to right, with nothing between them.
type line []span

// width returns how many cells the line takes.
func (l line) width() (n int) {
	for _, s := range l {
		n += attach.Width(s.text)
	}
	return n
}

// cut returns the line in at most so many cells.
func (l line) cut(cells int) line {
	for i, s := range l {
		w := attach.Width(s.text)
		if w > cells {
			return append(l[:i:i], span{attach.Cut(s.text, cells), s.tone})
		}
		cells -= w
	}
	return l
}

// pad returns the line in exactly so many cells.
func (l line) pad(cells int) line {
	l = l.cut(cells)
	if missing := cells - l.width(); missing > 0 {
		l = append(l[:len(l):len(l)], span{strings.Repeat(" ", missing), plain})
	}
	return l
}

// String returns the text alone, without blanks at its end.
func (l line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// fields is a line of values with words around them. Where the line is too narrow, the last ones are left out whole.
type fields []field

type field struct {
	before, value, after string
	tone                 tone // of the value
}

const gap = 3 // cells between fields

// line returns the fields that have room in so many cells, of which the first is cut rather than left out.
func (f fields) line(cells int) line {
	var l line
	for i, x := range f {
		var part line
		if i > 0 {
			part = append(part, span{strings.Repeat(" ", gap), plain})
		}
		for j, s := range []span{{x.before, dim}, {x.value, x.tone}, {x.after, dim}} {
			if s.text == "" {
				continue
			}
			if j > 0 && x.before != "" || j > 1 {
				part = append(part, span{" ", plain})
			}
			part = append(part, s)
		}
		if i > 0 && l.width()+part.width() > cells {
			break
		}
		l = append(l, part...)
	}
	return l.cut(cells)
}

// from returns the line without its first cells, of which each has one character.
func (l line) from(cells int) line {
	for i, s := range l {
		runes := []rune(s.text)
		if len(runes) > cells {
			return append(line{{string(runes[cells:]), s.tone}}, l[i+1:]...)
		}
		cells -= len(runes)
	}
	return nil
}
