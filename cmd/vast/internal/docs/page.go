package docs

import (
	"fmt"
	"html/template"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// page is a page of the site.
type page struct {
	source string // in the folder of the documentation, such as guide/start.md
	Path   string // in the site, such as guide/start.html
	Title  string

	Sections   []*section // the first one is the page's own
	HTML       template.HTML
	Prev, Next *page // in the order in which pages are read

	text []byte
	tree ast.Node
}

// section is what stands below a heading, up to the next one.
type section struct {
	ID    string // its anchor
	Title string
	Level int // of the heading: 1 is the page's title
	text  string
	code  string
}

// newPage reads a page and takes it to pieces.
func newPage(source string, content []byte) *page {
	p := &page{source: source, Path: sitePath(source), text: content, tree: markdown.Parser().Parse(text.NewReader(content))}
	p.divide()
	p.Title = strings.TrimSuffix(source, ".md")
	if len(p.Sections) > 0 {
		p.Title = p.Sections[0].Title
	}
	return p
}

// sitePath is where a page of the documentation stands in the site.
func sitePath(source string) string {
	switch dir, file := path.Split(source); {
	case source == contents:
		return "index.html"
	case file == "README.md":
		return dir + "index.html"
	}
	return strings.TrimSuffix(source, ".md") + ".html"
}

// notInAnchors is what GitHub leaves out of anchors, so that a link leads to the same place here and there.
var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// divide finds the sections, gives their headings anchors, and gathers the words that are searched.
func (p *page) divide() {
	var s *section
	var prose, code strings.Builder
	end := func() {
		if s != nil {
			s.text, s.code = strings.Join(strings.Fields(prose.String()), " "), code.String()
		}
		prose.Reset()
		code.Reset()
	}
	taken := make(map[string]int)
	ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Type() == ast.TypeBlock {
			prose.WriteByte(' ')
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			end()
			title := p.words(n)
			id := strings.ReplaceAll(strings.ToLower(notInAnchors.ReplaceAllString(title, "")), " ", "-")
			if taken[id]++; taken[id] > 1 {
				id = fmt.Sprintf("%s-%d", id, taken[id]-1)
			}
			n.SetAttributeString("id", []byte(id))
			s = &section{ID: id, Title: title, Level: n.Level}
			p.Sections = append(p.Sections, s)
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock:
			code.Write(lines(n, p.text))
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			prose.Write(n.Segment.Value(p.text))
			if n.SoftLineBreak() || n.HardLineBreak() {
				prose.WriteByte(' ')
			}
		case *ast.AutoLink:
			prose.Write(n.Label(p.text))
		}
		return ast.WalkContinue, nil
	})
	end()
}

// words are the text of a node without its marks.
func (p *page) words(n ast.Node) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(p.text))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// lines are the lines of a block of code.
func lines(n ast.Node, source []byte) []byte {
	var b []byte
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b = append(b, line.Value(source)...)
	}
	return b
}

// Up leads from the page to the site's first one.
func (p *page) Up() string { return strings.Repeat("../", strings.Count(p.Path, "/")) }

// To is the address of another page, seen from this one.
func (p *page) To(other *page) string { return p.Up() + other.Path }

// Outline is the sections to be listed beside the page.
func (p *page) Outline() (list []*section) {
	for _, s := range p.Sections {
		if s.Level == 2 || s.Level == 3 {
			list = append(list, s)
		}
	}
	return list
}

// From is what a reader comes from, in the pages for those.
func (p *page) From() string { return strings.TrimPrefix(p.Title, "Coming from ") }
