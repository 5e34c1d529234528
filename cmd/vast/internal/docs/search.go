package docs

import (
	"cmp"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// index finds sections by words. It is for browsers without scripts: with them, MiniSearch does this at each key that is pressed.
type index struct {
	entries []*entry
	in      map[string]int // in how many entries a word stands
}

// entry is a section in the index.
type entry struct {
	*section
	Page    *page
	weight  float64            // of its group
	weights map[string]float64 // of its words
}

// URL is where the section is, seen from the site's first page.
func (e *entry) URL() string {
	if e.Level == 1 {
		return e.Page.Path
	}
	return e.Page.Path + "#" + e.ID
}

// results are what was asked and what was found, the best first.
type results struct {
	Query string
	Found []found
}

// found is a section that was found.
type found struct {
	*entry
	Excerpt template.HTML
}

// mostResults bounds what is shown, and mostWords how many words of a question count.
const (
	mostResults = 20
	mostWords   = 16
)

// How much words count, by where they stand. The script site.js has the same numbers.
const (
	inTitle = 6
	inPage  = 1.5
	inText  = 1
	inCode  = 0.4
)

var (
	wordPattern = regexp.MustCompile(`[\p{L}\p{N}]+`)
	ending      = regexp.MustCompile(`^(.{4,}?)(?:ies|ing|ed|es|e|y)$|^(.{3,})s$`)
	humps       = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)
)

// unasked are words that stand in every question. The script site.js leaves out the same.
var unasked = strings.Fields("a an and are as at be by can do does for from has have how i if in into is it its my of on or s that the this to " +
	"what when where which who why will with you your")

// wordsOf are the words of a text, as they are compared: small, without their endings, and where a name is put together of several
// words these too.
func wordsOf(text string) (words []string) {
	add := func(word string) {
		word = strings.ToLower(word)
		if slices.Contains(unasked, word) {
			return
		}
		words = append(words, ending.ReplaceAllString(word, "$1$2"))
	}
	for _, word := range wordPattern.FindAllString(text, -1) {
		add(word)
		if parts := humps.FindAllString(word, -1); len(parts) > 1 {
			for _, part := range parts {
				add(part)
			}
		}
	}
	return words
}

func newIndex(groups []group) *index {
	x := &index{in: make(map[string]int)}
	for _, g := range groups {
		for _, p := range g.Pages {
			for _, s := range p.Sections {
				x.add(&entry{section: s, Page: p, weight: g.weight, weights: make(map[string]float64)})
			}
		}
	}
	return x
}

// add puts a section into the index, with what its words count.
func (x *index) add(e *entry) {
	for _, field := range []struct {
		text   string
		weight float64
	}{{e.Title, inTitle}, {e.Page.Title, inPage}, {e.text, inText}, {e.code, inCode}} {
		words := wordsOf(field.text)
		counts := make(map[string]float64)
		for _, word := range words {
			counts[word]++
		}
		for word, n := range counts {
			// As in BM25: what is said often counts more, but never much more, and a word counts more in a short text.
			e.weights[word] += field.weight * n / (n + 0.5 + float64(len(words))/100)
		}
	}
	for word := range e.weights {
		x.in[word]++
	}
	x.entries = append(x.entries, e)
}

// search finds the sections that a question is about.
func (x *index) search(query string) *results {
	r := &results{Query: query}
	asked := wordsOf(query)
	asked = asked[:min(len(asked), mostWords)]
	type scored struct {
		e     *entry
		score float64
	}
	var list []scored
	for _, e := range x.entries {
		score, met := 0.0, 0
		for _, word := range asked {
			best := 0.0
			for w, weight := range e.weights {
				rare := math.Log(1 + float64(len(x.entries))/float64(x.in[w]))
				if w == word {
					best = max(best, weight*rare)
				} else if len(word) > 2 && strings.HasPrefix(w, word) {
					best = max(best, weight*rare*0.5)
				}
			}
			if score += best; best > 0 {
				met++
			}
		}
		if met > 0 {
			list = append(list, scored{e, score * e.weight * float64(met) * float64(met)}) // who has all words comes first
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	for _, s := range list[:min(len(list), mostResults)] {
		r.Found = append(r.Found, found{s.e, excerpt(s.e.text, asked)})
	}
	return r
}

// excerptBytes is about how long the text below a result is.
const excerptBytes = 220

// excerpt is the part of a text where the words stand, with the words marked.
func excerpt(text string, asked []string) template.HTML {
	wanted := func(word string) bool {
		return slices.ContainsFunc(wordsOf(word), func(w string) bool {
			return slices.ContainsFunc(asked, func(a string) bool { return strings.HasPrefix(w, a) })
		})
	}
	begin := 0
	for _, at := range wordPattern.FindAllStringIndex(text, -1) {
		if wanted(text[at[0]:at[1]]) {
			begin = max(0, at[0]-excerptBytes/4)
			break
		}
	}
	for begin > 0 && !unicode.IsSpace(rune(text[begin-1])) {
		begin--
	}
	end := min(len(text), begin+excerptBytes)
	for end < len(text) && (!utf8.RuneStart(text[end]) || !unicode.IsSpace(rune(text[end]))) {
		end++
	}
	part := text[begin:end]
	var b strings.Builder
	if begin > 0 {
		b.WriteString("… ")
	}
	written := 0
	for _, at := range wordPattern.FindAllStringIndex(part, -1) {
		if word := part[at[0]:at[1]]; wanted(word) {
			b.WriteString(template.HTMLEscapeString(part[written:at[0]]) + "<mark>" + template.HTMLEscapeString(word) + "</mark>")
			written = at[1]
		}
	}
	b.WriteString(template.HTMLEscapeString(part[written:]))
	if end < len(text) {
		b.WriteString(" …")
	}
	return template.HTML(b.String())
}
