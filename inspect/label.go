package inspect

import (
	"iter"
	"strings"
	"unicode"
)

const (
	maxLabels  = 200     // largest number of distinct labels; otherLabel is not counted
	otherLabel = "other" // label of the names beyond maxLabels
	maxInLabel = 128     // largest number of characters in a label
)

// labelOf turns a name from the program into a label: valid UTF-8, of bounded length, and safe to print on a
// terminal.
func labelOf(name string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r // strings.Map decodes invalid bytes as the replacement character
	}, name))
	if len(runes) > maxInLabel {
		return string(runes[:maxInLabel-1]) + "…"
	}
	return string(runes)
}

// labelled sums figures by label. Each of the first [maxLabels] labels has its own sum; all further labels
// share the sum of [otherLabel].
type labelled[T any] struct {
	labels []string
	sums   map[string]*T
}

func (l *labelled[T]) of(name string) *T {
	label := labelOf(name)
	if sum, ok := l.sums[label]; ok {
		return sum
	}
	if len(l.labels) >= maxLabels {
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

// all yields the labels and sums, in the order in which the labels were first used.
func (l *labelled[T]) all() iter.Seq2[string, *T] {
	return func(yield func(string, *T) bool) {
		for _, label := range l.labels {
			if !yield(label, l.sums[label]) {
				return
			}
		}
	}
}
