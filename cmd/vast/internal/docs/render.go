package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// repository is the address of the repository's files that the site does not have.
const repository = "https://github.com/vastgo/vast/blob/main/"

// markdown parses pages and writes them as HTML. The HTML is also valid XML, so that a test can parse it. It
// has no style attributes, because the site's content security policy forbids them.
var markdown = goldmark.New(
	goldmark.WithExtensions(
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)),
		extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"https"}))),
	goldmark.WithRendererOptions(html.WithXHTML(), renderer.WithNodeRenderers(util.Prioritized(parts{}, 1))),
)

// render sets p.HTML. known maps the source of each page to the page. exists reports whether the
// documentation has a file.
func (p *page) render(known map[string]*page, exists func(name string) bool) error {
	ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(p.address(string(n.Destination), known, exists))
		case *ast.Image:
			n.Destination = []byte(p.address(string(n.Destination), known, exists))
		case *extended.TableCell:
			if n.Alignment == extended.AlignRight {
				n.SetAttributeString("class", []byte("num"))
			}
		}
		return ast.WalkContinue, nil
	})
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.text, p.tree); err != nil {
		return fmt.Errorf("%s: %w", p.source, err)
	}
	p.HTML = template.HTML(b.String()) // safe: goldmark leaves out raw HTML
	return nil
}

// address turns the address of a link or a picture in Markdown into the address in the HTML. If the site does
// not have the target, address returns the target's address in the repository.
func (p *page) address(target string, known map[string]*page, exists func(name string) bool) string {
	file, anchor, _ := strings.Cut(target, "#")
	if file == "" || strings.Contains(file, ":") {
		return target
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	name := path.Join(path.Dir(p.source), file)
	other := known[name]
	if other == nil {
		other = known[path.Join(name, "README.md")]
	}
	switch {
	case other != nil:
		return p.To(other) + anchor
	case exists(name):
		return p.Up() + name
	default:
		return repository + path.Join("docs", name) + anchor
	}
}

// parts renders the elements that differ from goldmark's default HTML.
type parts struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (parts) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, writeHeading)
	r.Register(ast.KindFencedCodeBlock, writeCode)
	r.Register(ast.KindImage, writeImage)
	r.Register(extended.KindTable, writeTable)
}

// writeHeading writes a heading, with a link to the heading.
func writeHeading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	id, _ := h.AttributeString("id")
	if entering {
		fmt.Fprintf(w, `<h%d id="%s">`, h.Level, id)
	} else {
		fmt.Fprintf(w, `<a class="anchor" href="#%s" aria-hidden="true" tabindex="-1">#</a></h%d>`+"\n", id,
			h.Level)
	}
	return ast.WalkContinue, nil
}

// writeCode writes a block of code. It colours only Go, because the documentation has little other code.
func writeCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	code := lines(n, source)
	language := string(n.(*ast.FencedCodeBlock).Language(source))
	fmt.Fprintf(w, `<pre class="code" tabindex="0" data-language="%s"><code>`,
		template.HTMLEscapeString(language))
	if language == "go" {
		writeGo(w, code)
	} else {
		template.HTMLEscape(w, code)
	}
	_, err := w.WriteString("</code></pre>\n")
	return ast.WalkContinue, err
}

// writeImage writes a picture as a link to its file, because a picture is small in a narrow window.
func writeImage(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	address := template.HTMLEscapeString(string(n.(*ast.Image).Destination))
	var alt strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			alt.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				alt.WriteByte(' ')
			}
		}
	}
	_, err := fmt.Fprintf(w, `<a class="picture" href="%s"><img src="%s" alt="%s" /></a>`, address, address,
		template.HTMLEscapeString(alt.String()))
	return ast.WalkSkipChildren, err
}

// writeTable puts a table into an element that scrolls, so that a wide table does not widen the page.
func writeTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString(`<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>` + "\n")
	} else {
		w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}
