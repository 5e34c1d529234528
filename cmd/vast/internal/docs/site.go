package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/vastgo/vast/internal/theme"
)

// embedded holds the site's style sheet, its scripts and the templates of its pages.
//
//go:embed site
var embedded embed.FS

var frame = template.Must(template.ParseFS(embedded, "site/*.html"))

// contentTypes are the types of the site's files by extension. The site does not use the operating system's
// table, because that table may be wrong.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".webp": "image/webp",
	"":      "text/plain; charset=utf-8", // licence files have no extension
}

type site struct {
	groups []group
	index  *index
	files  map[string][]byte // content of each file by path
}

func newSite(documentation fs.FS) (*site, error) {
	groups, err := readBook(documentation)
	if err != nil {
		return nil, err
	}
	s := &site{groups: groups, files: make(map[string][]byte)}
	known := make(map[string]*page)
	var all []*page
	for _, g := range groups {
		for _, p := range g.Pages {
			known[p.source] = p
			all = append(all, p)
		}
	}
	for i, p := range all {
		if i > 0 {
			p.Prev, all[i-1].Next = all[i-1], p
		}
	}
	s.index = newIndex(groups)
	exists := func(name string) bool {
		info, err := fs.Stat(documentation, name)
		return err == nil && !info.IsDir()
	}
	for _, p := range all {
		if err := p.render(known, exists); err != nil {
			return nil, err
		}
		if s.files[p.Path], err = s.frame("page.html", p, nil); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"missing.html", "search.html"} {
		if s.files[name], err = s.frame(name, &page{Path: name, Title: strings.TrimSuffix(name, ".html")},
			nil); err != nil {
			return nil, err
		}
	}
	if s.files["index.js"], err = s.index.script(); err != nil {
		return nil, err
	}
	return s, errors.Join(s.add(embedded, "site"), s.add(theme.Files, "."), s.add(documentation, "."))
}

// add adds the files in dir that the site serves unchanged.
func (s *site) add(files fs.FS, dir string) error {
	return fs.WalkDir(files, dir, func(name string, d fs.DirEntry, err error) error {
		if _, shown := contentTypes[path.Ext(name)]; err != nil || d.IsDir() || !shown ||
			path.Ext(name) == ".html" {
			return err
		}
		content, err := fs.ReadFile(files, name)
		s.files[strings.TrimPrefix(name, dir+"/")] = content
		return err
	})
}

func (s *site) frame(name string, p *page, r *results) ([]byte, error) {
	var b bytes.Buffer
	err := frame.ExecuteTemplate(&b, name, struct {
		*page
		Groups  []group
		Results *results
	}{p, s.groups, r})
	return b.Bytes(), err
}

// ServeHTTP serves the site. The site is public and read-only, so it needs no access control.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
			"base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache") // a rebuilt program may have changed pages
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the pages are read-only", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if name == "" || strings.HasSuffix(r.URL.Path, "/") {
		name = path.Join(name, "index.html")
	}
	content, found := s.files[name]
	status := http.StatusOK
	switch query := r.URL.Query().Get("q"); {
	case !found:
		name, content, status = "missing.html", s.missing(r.URL.Path), http.StatusNotFound
	case name == "search.html" && query != "":
		// A browser without scripts sends its query here.
		var err error
		content, err = s.frame(name, &page{Path: name, Title: "search"}, s.index.search(query))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	h.Set("Content-Type", contentTypes[path.Ext(name)])
	if path.Ext(name) == ".svg" {
		// The style element of an SVG picture has the picture's colours.
		h.Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	}
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		w.Write(content)
	}
}

// missing returns the page for an unknown address. The page's links are relative to the address's folder.
func (s *site) missing(address string) []byte {
	content, err := s.frame("missing.html", &page{Path: strings.TrimPrefix(address, "/"),
		Title: "no such page"}, nil)
	if err != nil {
		return []byte(err.Error())
	}
	return content
}

func (s *site) write(dir string) error {
	for name, content := range s.files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// script returns the index as a JavaScript file. The index is not a JSON file, because a page without a
// server can load scripts but no data.
func (x *index) script() ([]byte, error) {
	type entry struct {
		ID     int     `json:"id"`
		URL    string  `json:"url"`
		Title  string  `json:"title"`
		Page   string  `json:"page"`
		Text   string  `json:"text"`
		Code   string  `json:"code"`
		Weight float64 `json:"weight"`
	}
	var list []entry
	for i, e := range x.entries {
		list = append(list, entry{i, e.URL(), e.Title, e.Page.Title, e.text, e.code, e.weight})
	}
	text, err := json.Marshal(list)
	return append(append([]byte("globalThis.vastSections = "), text...), ";\n"...), err
}
