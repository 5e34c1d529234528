package inspect

import (
	"iter"
	"strings"
	"unicode"
)

const (
	mostLabels  = 200     // values of one label, but for otherLabel
	otherLabel  = "other" // for all that are beyond
	mostInLabel = 128     // characters
)

// labelOf makes a name from the program a label: valid, of bounded length, and safe to print on a terminal.
func labelOf(name string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r // of bytes that are no text: the replacement
	}, name))
	if len(runes) > mostInLabel {
		return string(runes[:mostInLabel-1]) + "…"
	}
	return string(runes)
}

// labelled sums figures up by their label, of which there are at most [mostLabels] and [otherLabel]: those that come first.
// Names that make the same label are one.
type labelled[T any] struct {
	labels []string
	sums   map[string]*T
}

// of returns the sum that a name's figures are added to.
func (l *labelled[T]) of(name string) *T {
	label := labelOf(name)
	if sum, ok := l.sums[label]; ok {
		return sum
	}
	if len(l.labels) >= mostLabels {
		label = otherLabel
		if sum, ok := l.sums[label]; ok {
			return sum
		}
	}
	if l.sums == nil {
		l.sums = make(map[string]*T)
	}
	sum := new(T)
	l.labels, l.sums[label] = append(l.labels, label), sum
	return sum
}

// all returns the labels and sums, in the order in which they came.
func (l *labelled[T]) all() iter.Seq2[string, *T] {
	return func(yield func(string, *T) bool) {
		for _, label := range l.labels {
			if !yield(label, l.sums[label]) {
				return
			}
		}
	}
}
