package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// editing is a process that runs a small world in a folder, with an inspector that accepts edits.
type editing struct {
	t    *testing.T
	kill func()
	url  *url.URL
}

func startEditing(t *testing.T, places, dir string) *editing {
	t.Helper()
	c := vast(t, nil, "earth", "-places", places, "-travellers", "2000", "-json", "-inspect-write", "-hz",
		"300", "-data", dir)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	e := &editing{t: t}
	found, ended := make(chan string, 1), make(chan bool)
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if address, ok := strings.CutPrefix(lines.Text(), "# inspector: "); ok {
				found <- address
			}
		}
		_ = c.Wait()
	}()
	e.kill = func() {
		_ = c.Process.Kill()
		<-ended
	}
	t.Cleanup(e.kill)
	select {
	case address := <-found:
		if e.url, err = url.Parse(address); err != nil {
			t.Fatal(err)
		}
	case <-ended:
		t.Fatal("the process ended before its inspector ran")
	}
	return e
}

// ask sends a request to the inspector and returns the answer.
func (e *editing) ask(method, path, body string) string {
	e.t.Helper()
	r, err := http.NewRequest(method, "http://"+e.url.Host+"/api/v1/"+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimPrefix(e.url.Fragment, "token="))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		e.t.Fatalf("%s %s: %d %s %v", method, path, answer.StatusCode, text, err)
	}
	return string(text)
}

// TestEditsSurviveKill kills the process of a world after the inspector has answered an edit. The next
// process must have the edit. A run from the folder and a run from a copy of the folder must end in the same
// state.
func TestEditsSurviveKill(t *testing.T) {
	t.Parallel()
	places := filepath.Join(t.TempDir(), "places.csv")
	if err := os.WriteFile(places, []byte("name,lat,lon,population\nZürich,47.37,8.55,400000\n"+
		"Roma,41.9,12.5,2700000\nTokyo,35.7,139.7,9700000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	e := startEditing(t, places, dir)
	var picked struct{ Picked []struct{ Entity string } }
	answer := e.ask("GET", "views/earth/pick?x=12&y=42&radius=2", "")
	if err := json.Unmarshal([]byte(answer), &picked); err != nil || len(picked.Picked) != 1 {
		t.Fatalf("%+v, %v", picked, err)
	}
	roma := "entities/" + picked.Picked[0].Entity
	var copied string
	for round, weight := range []string{"1234567", "7654321", "1111111"} {
		if round == 1 {
			e.ask("POST", "control", `{"action":"pause"}`)
		}
		e.ask("PATCH", roma+"/components/Site", `{"path":"Weight","value":`+weight+`}`)
		if round == 2 {
			// A checkpoint may replace files during the copy. In this case, copy again.
			for err := error(fs.ErrNotExist); errors.Is(err, fs.ErrNotExist); {
				copied = filepath.Join(t.TempDir(), "data")
				if err = os.CopyFS(copied, os.DirFS(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		e.kill()
		e = startEditing(t, places, dir)
		if got := e.ask("GET", roma, ""); !strings.Contains(got, weight) {
			t.Errorf("Weight is not %s after the restart: %s", weight, got)
		}
	}
	e.kill()
	hash := func(dir string) string {
		var r earthReport
		text, err := vast(t, nil, "earth", "-places", places, "-json", "-inspect", "off", "-hz", "0",
			"-ticks", "4000", "-data", dir).Output()
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil || r.Ticks != 4000 {
			t.Fatalf("%v in %s", err, text)
		}
		return r.StateHash
	}
	if a, b := hash(dir), hash(copied); a != b {
		t.Errorf("the hash is %s in the folder and %s in its copy", a, b)
	}
}
