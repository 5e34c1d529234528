package docs

import (
	"slices"
	"strings"
	"testing"
)

// questions are typical queries, each with the section that answers the query.
var questions = []struct{ query, answer string }{
	{"how do I delete in a loop", "guide/cookbook-entities.html#delete-entities-in-a-loop"},
	{"despawn", "guide/cookbook-entities.html#delete-entities-in-a-loop"},
	{"spawn a million", "guide/cookbook-entities.html#spawn-a-million-entities"},
	{"parent child", "guide/cookbook-entities.html#build-a-hierarchy-of-parents-and-children"},
	{"saving to a file", "guide/cookbook-data.html#save-a-world-to-a-file-and-load-it"},
	{"entities near a point", "guide/cookbook-data.html#find-entities-near-a-point"},
	{"undo", "guide/cookbook-data.html#roll-back-to-an-earlier-state"},
	{"leaderboard", "guide/cookbook-data.html#keep-a-leaderboard"},
	{"string components", "guide/cookbook-entities.html#keep-strings-and-find-entities-by-name"},
	{"prometheus metrics", "guide/cookbook-running.html#send-metrics-to-prometheus"},
	{"use after free", "guide/cookbook-running.html#find-a-use-after-free"},
	{"memory budget", "guide/cookbook-running.html#keep-within-a-memory-budget"},
	{"random numbers", "guide/parallel.html#random-numbers"},
	{"resident", "guide/memory.html#four-numbers"},
	{"arena frame", "guide/cookbook-data.html#use-an-arena-for-each-frame"},
	{"HeapColumn", "guide/slots.html#six-kinds-of-columns"},
	{"port slices of structs", "guide/cookbook-moving.html#from-slices-of-structs"},
}

// Each answer must be among the first maxRank results, on the server and in a browser.
const maxRank = 4

func TestSearch(t *testing.T) {
	s := theSite(t)
	for _, q := range questions {
		var got []string
		for _, f := range s.index.search(q.query).Found {
			got = append(got, f.URL())
		}
		if first := got[:min(len(got), maxRank)]; !slices.Contains(first, q.answer) {
			t.Errorf("%q finds %q first; the index of %s among all results is %d", q.query, first, q.answer,
				slices.Index(got, q.answer))
		}
	}
	for _, q := range []string{"", "the of", "qqxyzzy", "<", strings.Repeat("word ", 1000)} {
		r := s.index.search(q)
		if len(r.Found) > maxResults || q != strings.Repeat("word ", 1000) && len(r.Found) > 0 {
			t.Errorf("%.20q finds %d sections", q, len(r.Found))
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"How do I delete in a loop?", "delet loop"},
		{"deleting deleted deletes", "delet delet delet"},
		{"entities entity", "entit entit"},
		{"strings ring ID used", "string ring id used"},
		{"NewHeapColumn vm.PagesHuge", "newheapcolumn new heap column vm pageshug page huge"},
		{"Größe 1,000 pages", "größ gr e 1 000 page"},
	} {
		if got := strings.Join(wordsOf(c.text), " "); got != c.want {
			t.Errorf("words of %q are %q, want %q", c.text, got, c.want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("nothing here ", 40)
	for _, c := range []struct{ text, query, want string }{
		{"a <b> deleted thing", "delete", "a &lt;b&gt; <mark>deleted</mark> thing"},
		{"", "delete", ""},
		{long + "it is deleted", "delete", "… "},
		{"delete " + long, "delete", " …"},
		{strings.Repeat("ä", 500), "ä", "<mark>ä"},
	} {
		got := string(excerpt(c.text, wordsOf(c.query)))
		if c.want == "" && got != "" || !strings.Contains(got, c.want) || len(got) > 1100 {
			t.Errorf("excerpt of %.30q for %q is %q, want at most 1,100 bytes with %q", c.text, c.query, got,
				c.want)
		}
	}
}
