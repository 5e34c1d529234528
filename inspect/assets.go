package inspect

import (
	"embed"
	"io/fs"
	"net/http"
	"path"

	"github.com/vastgo/vast/internal/theme"
)

//go:embed page
var pageFiles embed.FS

// contentTypes maps the extensions of the page's files to content types. It replaces the table of package
// mime, which differs between machines.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
	"":      "text/plain; charset=utf-8", // files with licences
}

// pageHandler serves the page's own files, which are public: a request needs no token.
func pageHandler() http.Handler {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // cannot happen: the pattern above embeds page
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Clean("/" + r.URL.Path)[1:]
		if name == "" {
			name = "index.html"
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			fail(w, &problem{Status: http.StatusMethodNotAllowed, Code: "method",
				Message: "the page does not accept " + r.Method + ": use GET or HEAD"})
			return
		}
		from := files
		if _, err := fs.Stat(theme.Files, name); err == nil {
			from = theme.Files // a file that the page shares with the documentation's site
		}
		kind, known := contentTypes[path.Ext(name)]
		if info, err := fs.Stat(from, name); !known || err != nil || info.IsDir() {
			fail(w, notFound("there is no such page: the inspector's page is at /"))
			return
		}
		w.Header().Set("Content-Type", kind)
		// The browser must revalidate a cached file each time, because a rebuilt program may have a new page.
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeFileFS(w, r, from, name)
	})
}
