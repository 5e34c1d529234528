package docs

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzSearch(f *testing.F) {
	for _, q := range questions {
		f.Add(q.query)
	}
	f.Add("</input><script>alert(1)</script>")
	f.Add("\x00\xff ä 日本 \u2028")
	s, err := sharedSite()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := s.index.search(query)
		if len(r.Found) > maxResults {
			t.Errorf("%d results, want at most %d", len(r.Found), maxResults)
		}
		for _, found := range r.Found {
			if !utf8.ValidString(string(found.Excerpt)) {
				t.Errorf("an excerpt is not valid UTF-8: %q", found.Excerpt)
			}
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "/search.html?q="+url.QueryEscape(query), nil))
		if w.Code != 200 || strings.Contains(w.Body.String(), "<script>") ||
			strings.Count(w.Body.String(), "<input") != 1 {
			t.Errorf("%q: status %d, or the query became markup:\n%s", query, w.Code, w.Body)
		}
	})
}
