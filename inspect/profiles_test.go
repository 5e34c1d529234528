package inspect

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"expvar"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestProfilesAreOff(t *testing.T) {
	f := newFixture(t, Options{})
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/vars", "/debug/"} {
		if status, body := f.do(t, "GET", path, "", ""); status != http.StatusNotFound {
			t.Errorf("%s: %d %.100s, want 404", path, status, body)
		}
	}
}

// TestProfilesStayOffTheDefaultMux: the option Profiling adds nothing to http.DefaultServeMux.
func TestProfilesStayOffTheDefaultMux(t *testing.T) {
	newFixture(t, Options{Profiling: true})
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/profile"} {
		r, err := http.NewRequest("GET", path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, pattern := http.DefaultServeMux.Handler(r); pattern != "" {
			t.Errorf("http.DefaultServeMux serves %s with the pattern %s", path, pattern)
		}
	}
}

func TestProfiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{Profiling: true})
	for _, path := range []string{"heap", "goroutine", "allocs", "profile?seconds=1"} {
		status, body := f.do(t, "GET", "/debug/pprof/"+path, "", "")
		if status != http.StatusOK {
			t.Errorf("%s: %d %.100s", path, status, body)
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			t.Errorf("%s is not a profile in the format of go tool pprof: %v", path, err)
			continue
		}
		if text, err := io.ReadAll(z); err != nil || len(text) == 0 {
			t.Errorf("%s: the unpacked profile has %d bytes, error %v", path, len(text), err)
		}
	}
	if _, body := f.do(t, "GET", "/debug/pprof/trace?seconds=1", "", ""); !bytes.HasPrefix(body,
		[]byte("go 1.")) {
		t.Errorf("the trace begins with %.20q", body)
	}
	if _, body := f.do(t, "GET", "/debug/pprof/goroutine?debug=1", "", ""); !strings.HasPrefix(string(body),
		"goroutine profile: total") {
		t.Errorf("the goroutine profile as text begins with %.50q", body)
	}
	if _, body := f.do(t, "GET", "/debug/pprof/", "", ""); !strings.Contains(string(body), " goroutine\n") {
		t.Errorf("the list of profiles is %q, want goroutine in it", body)
	}
	for path, want := range map[string]int{
		"nothing": http.StatusNotFound, "a/b": http.StatusNotFound,
		"profile?seconds=0":   http.StatusBadRequest,
		"profile?seconds=301": http.StatusBadRequest, "trace?seconds=x": http.StatusBadRequest,
	} {
		if status, body := f.do(t, "GET", "/debug/pprof/"+path, "", ""); status != want {
			t.Errorf("%s: %d %.100s, want %d", path, status, body, want)
		}
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	if expvar.Get("vast test") == nil {
		expvar.NewInt("vast test").Set(42)
	}
	f := newFixture(t, Options{Profiling: true})
	f.settle(t)
	status, body := f.do(t, "GET", "/debug/vars", "", "")
	var got struct {
		Cmdline   []string
		Published int `json:"vast test"`
		Vast      variables
	}
	if err := json.Unmarshal(body, &got); status != http.StatusOK || err != nil {
		t.Fatalf("status %d, error %v: %.200s", status, err, body)
	}
	if got.Published != 42 || len(got.Cmdline) == 0 || got.Vast.Overview.Entities != 1003 ||
		got.Vast.Overview.Pace == nil ||
		len(got.Vast.Costs.Systems) != 3 {
		t.Errorf("%+v", got)
	}
}
