package tty

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Clean makes text safe to print on a terminal. It replaces each control character, format character, line or
// paragraph separator, private-use character and invalid byte by a visible character.
func Clean(text string) string {
	if !strings.ContainsFunc(text, unsafe) && utf8.ValidString(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ':
			return '\u2400' + r // the visible symbol of the control character
		case unsafe(r):
			return utf8.RuneError
		}
		return r
	}, text)
}

func unsafe(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// Width returns the number of cells that a clean text takes on a terminal.
func Width(text string) int { return uniseg.StringWidth(text) }

// Cut shortens a clean text to at most the given number of cells. A shortened text ends in an ellipsis.
func Cut(text string, cells int) string {
	if cells <= 0 {
		return ""
	}
	// A character has at least as many bytes as cells, so a text of few bytes is short enough. The only
	// exception is the three-em dash.
	if len(text) <= cells || Width(text) <= cells {
		return text
	}
	var b strings.Builder
	used, state := 0, -1
	for rest := text; rest != ""; {
		var cluster string
		var width int
		cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+width > cells-1 {
			break
		}
		used += width
		b.WriteString(cluster)
	}
	return b.String() + "…"
}

// Pad cuts a clean text, or appends blanks, so that it takes exactly the given number of cells.
func Pad(text string, cells int) string {
	text = Cut(text, cells)
	return text + strings.Repeat(" ", max(cells-Width(text), 0))
}

// PadLeft is like [Pad], but puts the blanks in front of the text.
func PadLeft(text string, cells int) string {
	text = Cut(text, cells)
	return strings.Repeat(" ", max(cells-Width(text), 0)) + text
}
