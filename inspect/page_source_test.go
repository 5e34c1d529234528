package inspect

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/theme"
)

// forbidden matches code that could turn text of the world into HTML, or that the page's
// Content-Security-Policy refuses.
var forbidden = regexp.MustCompile(`(?i)innerHTML|outerHTML|insertAdjacentHTML|document\.write|` +
	`createContextualFragment|DOMParser|srcdoc|setHTML|` +
	`\beval\s*\(|new\s+Function\b|setAttribute\(\s*['"` + "`" +
	`](style|on)|javascript:|cssText|import\(\s*['"]https?:|from\s+['"]https?:`)

// TestPageSource checks the scripts, HTML files and stylesheets of the page, third-party code included, for
// forbidden patterns.
func TestPageSource(t *testing.T) {
	scripts := 0
	for _, files := range []fs.FS{pageFiles, theme.Files} {
		scripts += checkSource(t, files)
	}
	if scripts < 6 {
		t.Errorf("%d scripts were checked, want at least 6", scripts)
	}
}

func checkSource(t *testing.T, files fs.FS) (scripts int) {
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		switch path.Ext(name) {
		case ".js":
			scripts++
			for i, line := range strings.Split(string(text), "\n") {
				if found := forbidden.FindString(line); found != "" {
					t.Errorf("%s:%d: %s is forbidden", name, i+1, found)
				}
			}
		case ".html":
			for _, tag := range regexp.MustCompile(`<[a-zA-Z][^>]*>`).FindAllString(string(text), -1) {
				refused := regexp.MustCompile(`(?i)\s(style|on[a-z]+)\s*=|(src|href)="(https?:)?//`)
				if refused.MatchString(tag) {
					t.Errorf("%s: %s has a style, a listener or an external address", name, tag)
				}
				if strings.HasPrefix(tag, "<script") && !strings.Contains(tag, "src=") {
					t.Errorf("%s has an inline script", name)
				}
			}
		case ".css":
			loads := regexp.MustCompile(`(?i)@import|url\(|expression\(`)
			if found := loads.FindString(string(text)); found != "" {
				t.Errorf("%s: %s is forbidden", name, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return scripts
}
