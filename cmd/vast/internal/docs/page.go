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

type page struct {
	source string // path in the documentation, such as guide/start.md
	Path   string // path in the site, such as guide/start.html
	Title  string

	Sections   []*section
	HTML       template.HTML
	Prev, Next *page // neighbours in reading order, or nil

	text []byte
	tree ast.Node
}

// section is the text below a heading, up to the next heading.
type section struct {
	ID    string // the anchor of the heading
	Title string
	Level int // the level of the heading, 1 to 6
	text  string
	code  string
}

// newPage parses a page. The title of the first section becomes the page's title.
func newPage(source string, content []byte) *page {
	p := &page{source: source, Path: sitePath(source), text: content,
		tree: markdown.Parser().Parse(text.NewReader(content))}
	p.divide()
	p.Title = strings.TrimSuffix(source, ".md")
	if len(p.Sections) > 0 {
		p.Title = p.Sections[0].Title
	}
	return p
}

// sitePath turns a path in the documentation into a path in the site.
func sitePath(source string) string {
	switch dir, file := path.Split(source); {
	case source == contents:
		return "index.html"
	case file == "README.md":
		return dir + "index.html"
	}
	return strings.TrimSuffix(source, ".md") + ".html"
}

// notInAnchors matches the characters that GitHub removes from anchors. The site must have GitHub's anchors,
// so that links to sections work in both places.
var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// divide sets p.Sections and gives each heading an anchor.
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

// words returns the text of a node without markup.
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

func lines(n ast.Node, source []byte) []byte {
	var b []byte
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b = append(b, line.Value(source)...)
	}
	return b
}

// Up returns the path from the page to the site's root.
func (p *page) Up() string { return strings.Repeat("../", strings.Count(p.Path, "/")) }

// To returns the path from this page to another page.
func (p *page) To(other *page) string { return p.Up() + other.Path }

// Outline returns the sections for the outline beside the page.
func (p *page) Outline() (list []*section) {
	for _, s := range p.Sections {
		if s.Level == 2 || s.Level == 3 {
			list = append(list, s)
		}
	}
	return list
}

// From returns the name of the library in a title "Coming from …".
func (p *page) From() string { return strings.TrimPrefix(p.Title, "Coming from ") }
