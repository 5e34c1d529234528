package docs

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// contents is the first page of the site. It lists the chapters of the guide.
const contents = "guide/README.md"

// decisions is the page that lists the decisions. It has no file, because readBook makes the page.
const decisions = "decisions/README.md"

// group is the pages below one heading of the navigation.
type group struct {
	Title  string
	Pages  []*page
	weight float64 // factor for the scores of the group's search results
}

// chapter matches a line in the list of chapters.
var chapter = regexp.MustCompile(`(?m)^\d+\. \[[^\]]*\]\(([\w-]+\.md)\)`)

// firstOfReference lists the first pages of the group Reference. All other pages follow in alphabetical
// order.
var firstOfReference = []string{"overview.md", "containers.md", "inspector.md", "measured.md",
	"architecture.md", "sources.md"}

// readBook returns the groups in reading order. The pages of each group are in reading order, too.
func readBook(files fs.FS) ([]group, error) {
	list, err := fs.ReadFile(files, contents)
	if err != nil {
		return nil, err
	}
	guide := []string{contents}
	for _, m := range chapter.FindAllSubmatch(list, -1) {
		guide = append(guide, path.Join(path.Dir(contents), string(m[1])))
	}
	top, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}
	isComingFrom := func(name string) bool { return strings.HasPrefix(name, "from-") }
	reference := slices.DeleteFunc(slices.Clone(top), isComingFrom)
	slices.SortStableFunc(reference, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	from := slices.DeleteFunc(top, func(name string) bool { return !isComingFrom(name) })
	decided, err := fs.Glob(files, "decisions/*.md")
	if err != nil {
		return nil, err
	}

	var groups []group
	for _, g := range []struct {
		title   string
		sources []string
		weight  float64
	}{{"Guide", guide, 1.3}, {"Reference", reference, 1}, {"Coming from", from, 0.7},
		{"Decisions", decided, 0.6}} {
		made := group{Title: g.title, weight: g.weight}
		for _, source := range g.sources {
			text, err := fs.ReadFile(files, source)
			if err != nil {
				return nil, fmt.Errorf("the list of chapters in %s: %w", contents, err)
			}
			made.Pages = append(made.Pages, newPage(source, text))
		}
		groups = append(groups, made)
	}
	last := &groups[len(groups)-1]
	var text strings.Builder
	text.WriteString("# Decisions\n\nChoices that would surprise a reader, and their reasons.\n\n")
	for _, p := range last.Pages {
		fmt.Fprintf(&text, "* [%s](%s)\n", p.Title, path.Base(p.source))
	}
	last.Pages = slices.Insert(last.Pages, 0, newPage(decisions, []byte(text.String())))
	return groups, nil
}

func rank(name string) int {
	if i := slices.Index(firstOfReference, name); i >= 0 {
		return i
	}
	return len(firstOfReference)
}
