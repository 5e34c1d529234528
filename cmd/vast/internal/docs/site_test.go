package docs

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	pages "github.com/vastgo/vast/docs"
)

// sharedSite returns the documentation's site. Tests must not change the site.
var sharedSite = sync.OnceValues(func() (*site, error) { return newSite(pages.Files) })

func theSite(t *testing.T) *site {
	t.Helper()
	s, err := sharedSite()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type element struct {
	xml.StartElement
	enclosing []string // names of all enclosing elements
}

func (e *element) attribute(name string) (value string, there bool) {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

func elements(t *testing.T, name string, content []byte) (list []element) {
	t.Helper()
	if !bytes.HasPrefix(bytes.TrimSpace(content), []byte("<!doctype html>")) {
		t.Errorf("%s does not begin with <!doctype html>", name)
	}
	d := xml.NewDecoder(bytes.NewReader(content))
	d.Entity = xml.HTMLEntity
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			list = append(list, element{token.Copy(), slices.Clone(open)})
			open = append(open, token.Name.Local)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

var forbiddenInParagraphs = []string{"p", "div", "ul", "ol", "table", "pre", "h1", "h2", "h3", "h4",
	"blockquote", "article", "nav"}

func TestPagesAreValid(t *testing.T) {
	s := theSite(t)
	n := 0
	for name, content := range s.files {
		if path.Ext(name) != ".html" {
			continue
		}
		n++
		ids := make(map[string]bool)
		titles, level := 0, 0
		for _, e := range elements(t, name, content) {
			tag := e.Name.Local
			if id, there := e.attribute("id"); there {
				if ids[id] || id == "" || strings.ContainsAny(id, " \t") {
					t.Errorf("%s: the id %q is used twice or is not a valid name", name, id)
				}
				ids[id] = true
			}
			for _, a := range e.Attr {
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") ||
					strings.HasPrefix(a.Value, "javascript:") {
					t.Errorf("%s: the content security policy forbids <%s %s=%q>", name, tag, a.Name.Local,
						a.Value)
				}
			}
			switch {
			case tag == "style", tag == "script" && !has(e, "src"):
				t.Errorf("%s has an inline %s", name, tag)
			case tag == "img" && !has(e, "alt"):
				t.Errorf("%s has a picture without an alternative text", name)
			case tag == "h1":
				titles++
				level = 1
			case len(tag) == 2 && tag[0] == 'h' && tag[1] >= '2' && tag[1] <= '6':
				if l := int(tag[1] - '0'); l > level+1 {
					t.Errorf("%s: a heading of level %d follows a heading of level %d", name, l, level)
				} else {
					level = l
				}
			}
			if slices.Contains(forbiddenInParagraphs, tag) && slices.Contains(e.enclosing, "p") ||
				tag == "a" && slices.Contains(e.enclosing, "a") {
				t.Errorf("%s: <%s> must not stand in %v", name, tag, e.enclosing)
			}
		}
		if titles != 1 {
			t.Errorf("%s has %d headings of level 1, want 1", name, titles)
		}
	}
	if n < 25 {
		t.Errorf("the site has %d pages, want at least 25", n)
	}
}

func has(e element, attribute string) bool {
	_, there := e.attribute(attribute)
	return there
}

func TestLinks(t *testing.T) {
	s := theSite(t)
	ids := make(map[string]bool) // page#id
	for name, content := range s.files {
		if path.Ext(name) == ".html" {
			for _, e := range elements(t, name, content) {
				if id, there := e.attribute("id"); there {
					ids[name+"#"+id] = true
				}
			}
		}
	}
	links, elsewhere := 0, 0
	for name, content := range s.files {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, e := range elements(t, name, content) {
			for _, attribute := range []string{"href", "src", "action"} {
				to, there := e.attribute(attribute)
				switch file, anchor, _ := strings.Cut(to, "#"); {
				case !there || strings.HasPrefix(to, "data:image/svg+xml,"):
				case strings.HasPrefix(to, "https://"):
					elsewhere++
					if e.Name.Local != "a" {
						t.Errorf("%s: <%s> loads from another server: %s", name, e.Name.Local, to)
					}
					s.checkRepository(t, name, to)
				default:
					links++
					at := name
					if file != "" {
						at = path.Join(path.Dir(name), file)
					}
					if _, there := s.files[at]; !there {
						t.Errorf("%s links to %s, which does not exist", name, to)
					} else if anchor != "" && !ids[at+"#"+anchor] {
						t.Errorf("%s links to %s, but no element has this id", name, to)
					}
				}
			}
		}
	}
	if links < 1000 || elsewhere < 20 {
		t.Errorf("%d links inside the site and %d to other sites; want at least 1,000 inside and 20 to "+
			"other sites", links, elsewhere)
	}
	for _, e := range s.index.entries {
		if file, anchor, _ := strings.Cut(e.URL(), "#"); s.files[file] == nil || anchor != "" &&
			!ids[e.URL()] {
			t.Errorf("the search index has the address %s, which does not exist", e.URL())
		}
	}
}

func (s *site) checkRepository(t *testing.T, name, to string) {
	t.Helper()
	if in, ok := strings.CutPrefix(to, repository+"docs/"); ok {
		if _, err := fs.Stat(pages.Files, in); err == nil {
			t.Errorf("%s links to %s, but the site has this file", name, to)
		}
	}
}

func TestAllPagesAreListed(t *testing.T) {
	s := theSite(t)
	var listed []string
	for _, g := range s.groups {
		for _, p := range g.Pages {
			listed = append(listed, p.source)
		}
	}
	err := fs.WalkDir(pages.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" && !slices.Contains(listed, name) {
			t.Errorf("the navigation does not list %s; list a chapter of the guide in its contents, %s", name,
				contents)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.groups[0].Pages[1].Path != "guide/start.html" || s.groups[0].Pages[0].Next != s.groups[0].Pages[1] {
		t.Errorf("the first chapter is %s, want guide/start.html right after the contents",
			s.groups[0].Pages[1].Path)
	}
}

var tag = regexp.MustCompile(`<[^>]*>`)

func TestGoCode(t *testing.T) {
	programs := 0
	err := fs.WalkDir(pages.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(pages.Files, name)
		for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(text, -1) {
			programs++
			var b bytes.Buffer
			writeGo(&b, m[1])
			if got := html.UnescapeString(tag.ReplaceAllString(b.String(), "")); got != string(m[1]) {
				t.Errorf("%s: without its tags, a highlighted program is\n%s\nwant\n%s", name, got, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if programs < 40 {
		t.Errorf("%d programs, want at least 40", programs)
	}
	var b bytes.Buffer
	writeGo(&b, []byte("pos := vast.NewColumn[Position](w) // `a` < 'b'\nx := s[1:len(s)]; \"unended"))
	want := `pos := vast.<span class="f">NewColumn</span>[Position](w) <span class="c">// ` +
		"`a` &lt; &#39;b&#39;</span>\n" +
		`x := s[<span class="n">1</span>:<span class="b">len</span>(s)]; <span class="s">&#34;unended</span>`
	if b.String() != want {
		t.Errorf("got %s\nwant %s", b.String(), want)
	}
}

func TestHeadings(t *testing.T) {
	p := newPage("a.md", []byte("# A `page`, with *marks*\n\nOne\ntwo.\n\n## Part\n\n## Part\n\n| a | b "+
		"|\n|---|--:|\n| c | d |\n"))
	var got []string
	for _, s := range p.Sections {
		got = append(got, fmt.Sprintf("%d %s %q", s.Level, s.ID, s.text))
	}
	want := []string{`1 a-page-with-marks "One two."`, `2 part ""`, `2 part-1 "a b c d"`}
	if p.Title != "A page, with marks" || !slices.Equal(got, want) {
		t.Errorf("%q: %q, want %q", p.Title, got, want)
	}
}
