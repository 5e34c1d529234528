package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// clean makes text safe to print on a terminal. It replaces each control character, format character, line
// or paragraph separator, private-use character and invalid byte by a visible character.
func clean(text string) string {
	if printableASCII(text) || !strings.ContainsFunc(text, unsafeRune) && utf8.ValidString(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ':
			return '\u2400' + r // the visible symbol of the control character
		case unsafeRune(r):
			return utf8.RuneError
		}
		return r
	}, text)
}

func unsafeRune(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

func printableASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// width returns the number of cells that a clean text takes on a terminal.
func width(text string) int {
	if printableASCII(text) {
		return len(text)
	}
	return uniseg.StringWidth(text)
}

// cut shortens a clean text to at most the given number of cells. A shortened text ends in an ellipsis.
func cut(text string, cells int) string {
	if cells <= 0 {
		return ""
	}
	// A character takes at least as many bytes as cells, so counting bytes is enough for a short text. The
	// only exception is the three-em dash.
	if len(text) <= cells || width(text) <= cells {
		return text
	}
	var b strings.Builder
	used, state := 0, -1
	for rest := text; rest != ""; {
		var cluster string
		var size int
		cluster, rest, size, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+size > cells-1 {
			break
		}
		used += size
		b.WriteString(cluster)
	}
	return b.String() + "…"
}

// pad cuts a clean text, or appends blanks, so that it takes exactly the given number of cells.
func pad(text string, cells int) string {
	text = cut(text, cells)
	return text + strings.Repeat(" ", max(cells-width(text), 0))
}

// padLeft is like pad, but puts the blanks in front of the text.
func padLeft(text string, cells int) string {
	text = cut(text, cells)
	return strings.Repeat(" ", max(cells-width(text), 0)) + text
}
