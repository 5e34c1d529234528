package docs

import (
	"cmp"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strings"
)

// index is the server's search index, for browsers without scripts. In a browser with scripts, MiniSearch
// searches.
type index struct {
	entries     []*entry
	entriesWith map[string]int // number of entries that contain each word
}

// entry is a section in the index.
type entry struct {
	*section
	Page    *page
	weight  float64            // weight of the page's group
	weights map[string]float64 // weight of each word in the section
}

// URL is the path of the section from the site's root.
func (e *entry) URL() string {
	if e.Level == 1 {
		return e.Page.Path
	}
	return e.Page.Path + "#" + e.ID
}

type results struct {
	Query string
	Found []found // the best result is first
}

type found struct {
	*entry
	Excerpt template.HTML
}

const (
	maxResults = 20
	maxWords   = 16 // search ignores all further words of a query
)

// Weights of a word. site.js has the same numbers.
const (
	weightTitle     = 6 // in the section's title
	weightPageTitle = 1.5
	weightText      = 1
	weightCode      = 0.4
)

var (
	wordPattern = regexp.MustCompile(`[\p{L}\p{N}]+`)
	ending      = regexp.MustCompile(`^(.{4,}?)(?:ies|ing|ed|es|e|y)$|^(.{3,})s$`)
	humps       = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)
)

// stopWords are common words that a search ignores. site.js has the same list.
var stopWords = strings.Fields("a an and are as at be by can do does for from has have how i if in into is " +
	"it its my of on or s " +
	"that the this to what when where which who why will with you your")

// wordsOf returns the words of a text in lower case, without stop words. It removes endings, so that most
// forms of a word are equal. For a name of several words, such as MakeSlice, wordsOf returns the name and its
// words.
func wordsOf(text string) (words []string) {
	add := func(word string) {
		word = strings.ToLower(word)
		if slices.Contains(stopWords, word) {
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
	x := &index{entriesWith: make(map[string]int)}
	for _, g := range groups {
		for _, p := range g.Pages {
			for _, s := range p.Sections {
				x.add(&entry{section: s, Page: p, weight: g.weight, weights: make(map[string]float64)})
			}
		}
	}
	return x
}

func (x *index) add(e *entry) {
	for _, field := range []struct {
		text   string
		weight float64
	}{{e.Title, weightTitle}, {e.Page.Title, weightPageTitle}, {e.text, weightText}, {e.code, weightCode}} {
		words := wordsOf(field.text)
		counts := make(map[string]float64)
		for _, word := range words {
			counts[word]++
		}
		for word, n := range counts {
			// As in BM25, repetition increases a word's weight up to a bound, and a word weighs more in a
			// short text.
			e.weights[word] += field.weight * n / (n + 0.5 + float64(len(words))/100)
		}
	}
	for word := range e.weights {
		x.entriesWith[word]++
	}
	x.entries = append(x.entries, e)
}

func (x *index) search(query string) *results {
	r := &results{Query: query}
	queryWords := wordsOf(query)
	queryWords = queryWords[:min(len(queryWords), maxWords)]
	type scored struct {
		e     *entry
		score float64
	}
	var list []scored
	for _, e := range x.entries {
		score, matches := 0.0, 0
		for _, word := range queryWords {
			best := e.weights[word] * x.rareness(word)
			if len(word) > 2 {
				for w, weight := range e.weights {
					if len(w) > len(word) && strings.HasPrefix(w, word) {
						best = max(best, weight*x.rareness(w)/2)
					}
				}
			}
			if score += best; best > 0 {
				matches++
			}
		}
		if matches > 0 {
			// The square raises the scores of sections with several words of the query.
			list = append(list, scored{e, score * e.weight * float64(matches) * float64(matches)})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	for _, s := range list[:min(len(list), maxResults)] {
		r.Found = append(r.Found, found{s.e, excerpt(s.e.text, queryWords)})
	}
	return r
}

// rareness returns a weight. A word in fewer sections has a higher weight.
func (x *index) rareness(word string) float64 {
	return math.Log(1 + float64(len(x.entries))/float64(max(x.entriesWith[word], 1)))
}

// excerptBytes is the approximate length of an excerpt.
const excerptBytes = 220

// excerpt returns the part of a text around the first word that matches the query, or the text's beginning if
// no word matches. It marks all matching words in the part. A word matches if a result of wordsOf for the
// word begins with a word of the query.
func excerpt(text string, queryWords []string) template.HTML {
	matches := func(word string) bool {
		return slices.ContainsFunc(wordsOf(word), func(w string) bool {
			return slices.ContainsFunc(queryWords, func(q string) bool { return strings.HasPrefix(w, q) })
		})
	}
	begin := 0
	for _, at := range wordPattern.FindAllStringIndex(text, -1) {
		if matches(text[at[0]:at[1]]) {
			begin = max(0, at[0]-excerptBytes/4)
			break
		}
	}
	// The excerpt begins and ends at ASCII white space, because other bytes may be parts of a character.
	for begin > 0 && !isSpace(text[begin-1]) {
		begin--
	}
	end := min(len(text), begin+excerptBytes)
	for end < len(text) && !isSpace(text[end]) {
		end++
	}
	part := text[begin:end]
	var b strings.Builder
	if begin > 0 {
		b.WriteString("… ")
	}
	written := 0
	for _, at := range wordPattern.FindAllStringIndex(part, -1) {
		if word := part[at[0]:at[1]]; matches(word) {
			b.WriteString(template.HTMLEscapeString(part[written:at[0]]) + "<mark>" +
				template.HTMLEscapeString(word) + "</mark>")
			written = at[1]
		}
	}
	b.WriteString(template.HTMLEscapeString(part[written:]))
	if end < len(text) {
		b.WriteString(" …")
	}
	return template.HTML(b.String())
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' }
