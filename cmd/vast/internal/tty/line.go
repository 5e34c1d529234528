package tty

import "strings"

// Tone is the style of a piece of text. Each screen chooses the colour of a tone.
type Tone uint8

const (
	Plain Tone = iota
	Dim
	Strong
	Accent
	Good
	Warn
	Bad
)

// Tones is the number of tones.
const Tones = int(Bad) + 1

// Span is a piece of clean text, see [Clean].
type Span struct {
	Text string
	Tone Tone
}

// Text returns a span.
func Text(text string, tone Tone) Span { return Span{text, tone} }

// Line is a line of a screen: spans from left to right, without gaps.
type Line []Span

// Width returns how many cells the line takes.
func (l Line) Width() (n int) {
	for _, s := range l {
		n += Width(s.Text)
	}
	return n
}

// Cut shortens the line to at most the given number of cells.
func (l Line) Cut(cells int) Line {
	for i, s := range l {
		w := Width(s.Text)
		if w > cells {
			return append(l[:i:i], Span{Cut(s.Text, cells), s.Tone})
		}
		cells -= w
	}
	return l
}

// Pad cuts the line, or appends blanks, so that it takes exactly the given number of cells.
func (l Line) Pad(cells int) Line {
	l = l.Cut(cells)
	if missing := cells - l.Width(); missing > 0 {
		l = append(l[:len(l):len(l)], Span{strings.Repeat(" ", missing), Plain})
	}
	return l
}

// From returns the line without its first n cells. Each removed character must take one cell.
func (l Line) From(n int) Line {
	for i, s := range l {
		runes := []rune(s.Text)
		if len(runes) > n {
			return append(Line{{string(runes[n:]), s.Tone}}, l[i+1:]...)
		}
		n -= len(runes)
	}
	return nil
}

// String returns the text of the line, without the blanks at its end.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// Field is a value with a text before it and a text after it. An empty part takes no room.
type Field struct {
	Before, Value, After string
	Tone                 Tone // tone of Value; Before and After are dim
}

// Value returns a field.
func Value(before, value, after string, tone Tone) Field { return Field{before, value, after, tone} }

// Fields are the fields of a line, the most important one first.
type Fields []Field

// gap is the number of cells between two fields.
const gap = 3

// Line returns as many fields, from the first, as fit into the given number of cells. If the first field
// alone does not fit, Line cuts it.
func (f Fields) Line(cells int) Line {
	var l Line
	for i, x := range f {
		var part Line
		if i > 0 {
			part = append(part, Span{strings.Repeat(" ", gap), Plain})
		}
		for j, s := range []Span{{x.Before, Dim}, {x.Value, x.Tone}, {x.After, Dim}} {
			if s.Text == "" {
				continue
			}
			if j > 0 && x.Before != "" || j > 1 {
				part = append(part, Span{" ", Plain})
			}
			part = append(part, s)
		}
		if i > 0 && l.Width()+part.Width() > cells {
			break
		}
		l = append(l, part...)
	}
	return l.Cut(cells)
}
