package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	library "github.com/vastgo/vast/store"
)

type place struct{ X, Y float64 }

type mood struct{ Word string }

// townFolder makes a store of a small world with four checkpoints: at the ticks 10, 20 and 30, and the
// checkpoint of Close, also at tick 30.
func townFolder(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "town")
	w := vast.NewWorld(vast.Options{MaxEntities: 1000})
	defer w.Close()
	places, moods, ill := vast.NewColumn[place](w), vast.NewHeapColumn[mood](w), vast.NewTag(w, "ill")
	roads := vast.NewEdges[float32](w, "roads", vast.EdgesOptions{})
	st, err := library.Open(dir, w, library.Options{Every: time.Hour, Keep: 4, Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	people := w.Archetype(places)
	var all []vast.Entity
	for i := range 20 {
		e := people.New()
		all = append(all, e)
		places.Set(e, place{float64(i), math.NaN()})
		if _, err := w.Names().Set(e, fmt.Sprintf("person %d <b>\x1b[31m", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Recover(func([]byte) {}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	for tick := 1; tick <= 30; tick++ {
		if err := st.Tick(func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		switch tick {
		case 20:
			w.Delete(all[1])
			w.Delete(all[2])
			people.New()
			places.Set(all[3], place{3, 4})
			moods.Add(all[3], mood{"merry"})
			ill.Add(all[4])
			roads.Add(all[5], all[6], 2.5)
		case 30:
			moods.Set(all[3], mood{"sad"})
		}
		if tick%10 == 0 {
			if err := st.Checkpoint(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := st.Record([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func run(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = Run(args, &out, &errs)
	return status, out.String(), errs.String()
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := run(args...)
	if status != 0 || stderr != "" {
		t.Fatalf("%q: exit status %d, %s%s", args, status, stdout, stderr)
	}
	return stdout
}

func mustMatch(t *testing.T, pattern, text string) {
	t.Helper()
	if !regexp.MustCompile(pattern).MatchString(text) {
		t.Errorf("the output does not match %s:\n%s", pattern, text)
	}
}

// exported returns the number of entities in an exported document.
func exported(t *testing.T, text string) (n int) {
	t.Helper()
	var document struct{ Entities []map[string]any }
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return len(document.Entities)
}

func TestList(t *testing.T) {
	dir := townFolder(t)
	text := mustRun(t, "ls", dir)
	for _, want := range []string{
		`(?m)^file +kind +tick +continues +size +time$`,
		`(?m)^checkpoint-00000003 +checkpoint +20 +\d* +\d+(\.\d+)? Ki?B  20\d\d-\d\d-\d\d \d\d:\d\d:\d\d$`,
		`(?m)^checkpoint-00000005 +checkpoint +30 `,
		`(?m)^journal-\d{8} +journal +\d`,
		`(?m)^lock +lock `,
		`(?m)^4 checkpoints, \d segments? of the journal, .* in all$`,
	} {
		mustMatch(t, want, text)
	}
	var list struct{ Files []file }
	if err := json.Unmarshal([]byte(mustRun(t, "ls", "-json", dir)), &list); err != nil {
		t.Fatal(err)
	}
	ticks := ""
	for _, f := range list.Files {
		if f.Tick != nil {
			ticks += fmt.Sprint(*f.Tick, " ")
		}
		if f.Problem != "" || f.Written.IsZero() || f.Kind == "checkpoint" && f.Bytes == 0 {
			t.Errorf("%+v", f)
		}
		if f.Taken.IsZero() == (f.Kind == "checkpoint") {
			t.Errorf("%s was taken at %v", f.Name, f.Taken)
		}
	}
	if ticks != "10 20 30 30 " {
		t.Errorf("the checkpoints have the ticks %s", ticks)
	}
	// A copy of the folder may lose the times of files, so ls shows the time inside the checkpoint.
	copied := filepath.Join(dir, "checkpoint-00000005")
	if err := os.Chtimes(copied, time.Time{}, time.Date(2001, 2, 3, 4, 5, 6, 0, time.Local)); err != nil {
		t.Fatal(err)
	}
	if text := mustRun(t, "ls", dir); strings.Contains(text, "2001-02-03") {
		t.Error(text)
	}
}

func TestVerify(t *testing.T) {
	dir := townFolder(t)
	mustMatch(t, `^\d+ files, .*: all sound\n$`, mustRun(t, "verify", "-deep", dir))
	if err := os.WriteFile(filepath.Join(dir, "odd\x1b[2J"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if text := mustRun(t, "verify", dir); !strings.HasPrefix(text,
		"unknown  odd␛[2J: not a file of a store\n") {
		t.Error(text)
	}
	path := filepath.Join(dir, "checkpoint-00000005")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-50] ^= 1
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	status, text, _ := run("verify", dir)
	if status != 1 {
		t.Errorf("exit status %d", status)
	}
	mustMatch(t,
		`(?s)^damaged  checkpoint-00000005: byte \d+: block \d+ is damaged.*: 1 damaged or missing\n$`,
		text)
	var list struct{ Files []file }
	status, text, _ = run("verify", "-json", dir)
	if err := json.Unmarshal([]byte(text), &list); err != nil || status != 1 {
		t.Fatalf("%v, exit status %d: %s", err, status, text)
	}
	problems := 0
	for _, f := range list.Files {
		if f.Problem != "" {
			problems++
		}
	}
	if problems != 1 {
		t.Errorf("%d problems in %s", problems, text)
	}
}

func TestExport(t *testing.T) {
	dir := townFolder(t)
	if n := exported(t, mustRun(t, "export", dir)); n != 19 {
		t.Errorf("the newest moment has %d entities, want 19", n)
	}
	if n := exported(t, mustRun(t, "export", "-moment", "2", dir)); n != 20 {
		t.Errorf("moment 2 has %d entities, want 20", n)
	}
	out := filepath.Join(t.TempDir(), "town.json")
	if text := mustRun(t, "export", dir, "-out", out); text != "" {
		t.Error(text)
	}
	b, err := os.ReadFile(out)
	if err != nil || string(b) != mustRun(t, "export", dir) || !strings.Contains(string(b), `"Word": "sad"`) {
		t.Errorf("%v in %s", err, b)
	}
	if status, _, stderr := run("export", dir, "-out", out); status != 1 || !strings.Contains(stderr,
		"exists") {
		t.Errorf("exit status %d, %s", status, stderr)
	}
	if status, _, stderr := run("export", dir, "-moment", "99"); status != 1 ||
		!strings.Contains(stderr, "checkpoint-00000099") {
		t.Errorf("exit status %d, %s", status, stderr)
	}
}

func TestExportRefusesDamagedComponent(t *testing.T) {
	type weight [64]uint64
	dir := t.TempDir()
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	weights := vast.NewColumn[weight](w)
	st, err := library.Open(dir, w, library.Options{Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	w.Archetype(weights).NewN(4096, func(run vast.Run) {
		for i := range weights.Slice(run) {
			weights.Slice(run)[i][7] = 0x0123456789
		}
	})
	if err := errors.Join(st.Recover(nil, nil), st.Close()); err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := library.Save(w, &saved, library.Options{}); err != nil {
		t.Fatal(err)
	}
	savedPath := filepath.Join(t.TempDir(), "saved.world")
	if err := os.WriteFile(savedPath, saved.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for damaged, exportedPath := range map[string]string{
		filepath.Join(dir, "checkpoint-00000001"): dir,
		savedPath: savedPath,
	} {
		if status, out, _ := run("export", exportedPath); status != 0 || exported(t, out) != 4096 {
			t.Fatalf("status %d", status)
		}
		file, err := os.ReadFile(damaged)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.LastIndex(file, []byte{0x89, 0x67, 0x45, 0x23, 0x01})
		file[at]++
		if err := os.WriteFile(damaged, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if status, out, stderr := run("export", exportedPath); status != 1 || out != "" ||
			!strings.Contains(stderr, "damaged") {
			t.Errorf("%s: status %d, %d bytes, %s", damaged, status, len(out), stderr)
		}
	}
}

func TestCompact(t *testing.T) {
	dir := townFolder(t)
	before := mustRun(t, "export", dir)
	mustMatch(t, `^\S+ Ki?B before, \S+ Ki?B now\n$`, mustRun(t, "compact", dir))
	if text := mustRun(t, "ls", dir); strings.Count(text, "\ncheckpoint-") != 1 ||
		mustRun(t, "export", dir) != before {
		t.Error(text)
	}
	mustRun(t, "verify", dir)
}

// TestSavedFile checks that ls, verify and export accept a file of store.Save, and that compact refuses it.
func TestSavedFile(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1000})
	defer w.Close()
	w.Archetype(vast.NewColumn[place](w)).NewN(7, nil)
	path := filepath.Join(t.TempDir(), "saved")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := library.Save(w, f, library.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if text := mustRun(t, "ls", path); !strings.Contains(text, "  world ") {
		t.Error(text)
	}
	if text := mustRun(t, "verify", "-deep", path); !strings.HasSuffix(text, "all sound\n") {
		t.Error(text)
	}
	if n := exported(t, mustRun(t, "export", path)); n != 7 {
		t.Errorf("the saved file has %d entities, want 7", n)
	}
	if status, _, stderr := run("compact", path); status != 1 || stderr == "" {
		t.Errorf("exit status %d, %s", status, stderr)
	}
	if err := os.WriteFile(path, []byte("no world, but a text that is long enough"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"verify", "export", "look"} {
		if status, stdout, stderr := run(word, path); status != 1 || !strings.Contains(stdout+stderr,
			"not hold a world") {
			t.Errorf("%s: exit status %d, %s%s", word, status, stdout, stderr)
		}
	}
}

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{{}, {"nonsense"}, {"ls"}, {"ls", "a", "b"}, {"ls", "-deep", "a"},
		{"export", "-moment", "x", "a"}} {
		if status, stdout, stderr := run(args...); status != 2 || stdout != "" || strings.Count(stderr,
			"\n") != 1 ||
			!strings.HasPrefix(stderr, "vast store") {
			t.Errorf("%q: exit status %d, %s%s", args, status, stdout, stderr)
		}
	}
	for _, task := range tasks {
		none := filepath.Join(t.TempDir(), "none")
		if status, stdout, stderr := run(task.name, none); status != 1 || stdout != "" ||
			!strings.Contains(stderr, "none") {
			t.Errorf("%s: exit status %d, %s%s", task.name, status, stdout, stderr)
		}
		if text := mustRun(t, task.name, "-h"); !strings.HasPrefix(text,
			"usage: vast store "+task.name+" PATH") {
			t.Error(text)
		}
		empty := t.TempDir()
		if status, _, stderr := run(task.name, empty); status > 1 || strings.Contains(stderr, "goroutine") {
			t.Errorf("%s of an empty folder: exit status %d, %s", task.name, status, stderr)
		}
	}
}

// servePath serves the moments of a folder or file until the test ends.
func servePath(t *testing.T, path string) *httptest.Server {
	t.Helper()
	s, err := newLooker(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.Close()
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

func answer(t *testing.T, r *http.Request, v any) (status int) {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err == nil && v != nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return response.StatusCode
}

func request(t *testing.T, method, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLook(t *testing.T) {
	server := servePath(t, townFolder(t))
	type state struct {
		Moments []file
		Shown   uint64
	}
	var s state
	if status := answer(t, request(t, "GET", server.URL+"/store/moments"), &s); status != 200 ||
		len(s.Moments) != 4 || s.Shown != s.Moments[3].Number {
		t.Errorf("status %d, %+v", status, s)
	}
	if status := answer(t, request(t, "POST", server.URL+"/store/show?moment=2"), &s); status != 200 ||
		s.Shown != 2 {
		t.Errorf("status %d, %+v", status, s)
	}
	for address, want := range map[string]int{"show?moment=77": 422, "show?moment=x": 422} {
		if status := answer(t, request(t, "POST", server.URL+"/store/"+address), nil); status != want {
			t.Errorf("%s: status %d", address, status)
		}
	}
	var d difference
	if status := answer(t, request(t, "GET", server.URL+"/store/compare?before=2&after=3"),
		&d); status != 200 {
		t.Errorf("status %d", status)
	}
	if d.Came != 1 || d.Went != 2 || d.Changed != 3 || len(d.Entities) != 6 {
		t.Errorf("%+v", d)
	}
	columns := make(map[string]counted)
	for _, c := range d.Columns {
		columns[c.Name] = c
	}
	for name, want := range map[string]counted{"place": {Came: 1, Went: 2, Changed: 1}, "mood": {Came: 1},
		"ill": {Came: 1}, "roads": {Came: 1}, "Name": {Went: 2}} {
		if want.Name = name; columns[name] != want {
			t.Errorf("the difference is %+v, want %+v", columns[name], want)
		}
	}
	if e := d.Entities[2]; !strings.HasPrefix(e.Name, "person 3 ") || len(e.Parts) != 2 ||
		e.Parts[1] != (texts{"place", "{X: 3, Y: NaN}", "{X: 3, Y: 4}"}) {
		t.Errorf("%+v", e)
	}
	if status := answer(t, request(t, "GET", server.URL+"/store/compare?before=3&after=3"),
		&d); status != 200 ||
		d.Came+d.Went+d.Changed != 0 {
		t.Errorf("status %d, %+v", status, d)
	}
}

func TestLookRefusesForeignRequests(t *testing.T) {
	server := servePath(t, townFolder(t))
	for name, change := range map[string]func(r *http.Request){
		"host":   func(r *http.Request) { r.Host = "evil.example" },
		"origin": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		for _, path := range []string{"/store/", "/store/moments", "/"} {
			r := request(t, "GET", server.URL+path)
			change(r)
			if status := answer(t, r, nil); status != http.StatusForbidden {
				t.Errorf("%s, %s: status %d", path, name, status)
			}
		}
	}
	for path, want := range map[string]int{"/store/": 200, "/store/look.js": 200, "/store/base.css": 200,
		"/store/../store.go": 404, "/store/nothing.js": 404, "/store/page": 404, "/": 200} {
		if status := answer(t, request(t, "GET", server.URL+path), nil); status != want {
			t.Errorf("%s: status %d", path, status)
		}
	}
	if status := answer(t, request(t, "DELETE", server.URL+"/store/moments"), nil); status != 405 {
		t.Errorf("status %d", status)
	}
	response, err := http.Get(server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if p := response.Header.Get("Content-Security-Policy"); !strings.Contains(p, "frame-ancestors 'self'") ||
		response.Header.Get("X-Frame-Options") != "SAMEORIGIN" {
		t.Errorf("%v", response.Header)
	}
	s, err := newLooker(t.Context(), townFolder(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.serve(t.Context(), "0.0.0.0:0", func(string) {}); err == nil ||
		!strings.Contains(err.Error(), "other machines could reach the page") {
		t.Error(err)
	}
}
