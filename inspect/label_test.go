package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLabelOf(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"", ""},
		{"Position", "Position"},
		{"日本", "日本"},
		{"a\x1b[31mb\n\x00\x7f\u0085", "a\ufffd[31mb\ufffd\ufffd\ufffd\ufffd"},
		{"\xffx", "\ufffdx"},
		{strings.Repeat("é", maxInLabel), strings.Repeat("é", maxInLabel)},
		{strings.Repeat("é", maxInLabel+1), strings.Repeat("é", maxInLabel-1) + "…"},
	} {
		if got := labelOf(c.name); got != c.want || !utf8.ValidString(got) {
			t.Errorf("labelOf(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLabelled(t *testing.T) {
	var l labelled[int]
	for i := range 2 * maxLabels {
		*l.of(fmt.Sprint(i)) += i
	}
	*l.of("0") += 1000
	*l.of("x\xff")++
	var labels []string
	total := 0
	for label, n := range l.all() {
		labels = append(labels, label)
		total += *n
	}
	if len(labels) != maxLabels+1 || labels[0] != "0" || labels[maxLabels] != otherLabel {
		t.Fatalf("there are %d labels, want %d: %q", len(labels), maxLabels+1, labels)
	}
	if want := 2*maxLabels*(2*maxLabels-1)/2 + 1001; total != want || *l.sums["0"] != 1000 {
		t.Errorf("the total is %d, want %d; the sum of \"0\" is %d, want 1000", total, want, *l.sums["0"])
	}

	// The name "other" shares its sum with the names above the limit.
	l = labelled[int]{}
	*l.of(otherLabel) += 5
	for i := range 2 * maxLabels {
		*l.of(fmt.Sprint(i))++
	}
	if n := len(slices.Collect(func(yield func(string) bool) {
		for label := range l.all() {
			yield(label)
		}
	})); n != maxLabels || *l.sums[otherLabel] != 5+maxLabels+1 {
		t.Errorf("there are %d labels, want %d; the sum of \"other\" is %d, want %d", n, maxLabels,
			*l.sums[otherLabel], 5+maxLabels+1)
	}
}
