package earth

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

// background is a run of the command on another goroutine. It keeps the output for the test.
type background struct {
	t       *testing.T
	signals chan os.Signal
	status  chan int
	mu      sync.Mutex
	out     bytes.Buffer
}

func (b *background) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *background) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

// begin starts the command, and ends it with the test. Standard output and standard error share a buffer.
func begin(t *testing.T, args ...string) *background {
	t.Helper()
	o, err := parse(append([]string{"-places", write(t, "places.csv", village), "-travellers", "2000"},
		args...))
	if err != nil {
		t.Fatal(err)
	}
	b := &background{t: t, signals: make(chan os.Signal, 1), status: make(chan int, 1)}
	go func() { b.status <- runUntil(o, b.signals, b, b) }()
	t.Cleanup(b.end)
	return b
}

func (b *background) end() {
	select {
	case b.signals <- os.Interrupt:
	default: // an earlier signal is still in the channel
	}
	select {
	case <-b.status:
	case <-time.After(time.Minute):
		b.t.Errorf("the run does not end: %s", b.text())
	}
	b.status <- 0 // for the next call of end
}

var printedURL = regexp.MustCompile(`# inspector: (http://\S+)\n`)

func (b *background) url() *url.URL {
	b.t.Helper()
	for range 6000 {
		if found := printedURL.FindStringSubmatch(b.text()); found != nil {
			u, err := url.Parse(found[1])
			if err != nil {
				b.t.Fatal(err)
			}
			return u
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatalf("no address in %s", b.text())
	return nil
}

// request sends a request to the inspector at u, and returns the status code. It decodes the JSON of the
// response into result. A result of type *[]byte receives the undecoded response. result may be nil.
func request(t *testing.T, method string, u *url.URL, path, body string, result any) int {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+u.Host+"/api/v1/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token, ok := strings.CutPrefix(u.Fragment, "token="); ok {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	switch result := result.(type) {
	case nil:
	case *[]byte:
		*result = text
	default:
		if err := json.Unmarshal(text, result); err != nil {
			t.Fatalf("%s: %d %s", path, response.StatusCode, text)
		}
	}
	return response.StatusCode
}

func TestPrintedAddressAnswers(t *testing.T) {
	for _, args := range [][]string{{"-plain"}, {"-json"}, {"-json", "-hz", "0"},
		{"-plain", "-inspect", "localhost:0"}} {
		b := begin(t, args...)
		u := b.url()
		if u.Fragment != "" {
			t.Errorf("%v: the address of a read-only inspector has a token: %v", args, u)
		}
		var world struct {
			Name     string
			ReadOnly bool
			Views    []struct{ ID string }
		}
		if status := request(t, "GET", u, "world", "", &world); status != http.StatusOK ||
			world.Name != "earth" || !world.ReadOnly || len(world.Views) != 1 {
			t.Errorf("%v: %d, %+v", args, status, world)
		}
		var picture []byte
		path := "views/earth/picture?x0=-180&y0=-90&x1=180&y1=90&columns=4&rows=2"
		if status := request(t, "GET", u, path, "", &picture); status != http.StatusOK ||
			len(picture) != 48+4*2*8 {
			t.Fatalf("%v: %d, %q", args, status, picture)
		}
		sum := uint32(0)
		for cell := range 8 {
			sum += binary.LittleEndian.Uint32(picture[48+4*cell:])
		}
		if sum < 1800 || sum > 2200 {
			t.Errorf("%v: %d of about 2000 travellers on the picture", args, sum)
		}
		b.end()
		if c, err := net.Dial("tcp", u.Host); err == nil {
			c.Close()
			t.Errorf("%v: the inspector accepts a connection after the end of the run", args)
		}
		if text := b.text(); strings.Contains(args[0], "json") && strings.Count(text, "{") < 1 {
			t.Errorf("%v: the output has no report: %s", args, text)
		}
	}
}

func TestMapKnowsPlaces(t *testing.T) {
	u := begin(t, "-plain").url()
	var picked struct {
		Picked []struct {
			Entity, Name, Detail string
			Facts                []struct {
				Name  string
				Value float64
			}
			Links []struct{ Query string }
		}
	}
	request(t, "GET", u, "views/earth/pick?x=12&y=42&radius=2", "", &picked)
	if len(picked.Picked) != 1 {
		t.Fatalf("picked %+v, want Roma", picked)
	}
	roma := picked.Picked[0]
	if roma.Name != "Roma" || roma.Detail != "IT" || len(roma.Facts) != 3 || roma.Facts[2].Value != 2700000 ||
		roma.Links[1].Query != `Infectious, At("Roma, IT")` {
		t.Errorf("picked %+v", roma)
	}
	var at struct{ X, Y float64 }
	if request(t, "GET", u, "views/earth/where?entity="+roma.Entity, "", &at); at.X < 12.49 || at.X > 12.51 ||
		at.Y < 41.89 || at.Y > 41.91 {
		t.Errorf("Roma is at %v", at)
	}
	var marks struct{ Landmarks []struct{ Name string } }
	request(t, "GET", u, "views/earth/landmarks?x0=130&y0=-60&x1=370&y1=60&most=3", "", &marks)
	if len(marks.Landmarks) != 3 || marks.Landmarks[0].Name != "Tokyo" ||
		marks.Landmarks[1].Name != "Quito" || marks.Landmarks[2].Name != "Zürich" {
		t.Errorf("landmarks from Japan eastwards: %+v, want Tokyo, Quito and Zürich", marks)
	}
	var view struct {
		Outlines    [][]float64
		Attribution []string
	}
	request(t, "GET", u, "views/earth", "", &view)
	if len(view.Outlines) < 50 || len(view.Attribution) == 0 {
		t.Errorf("%d outlines, %q", len(view.Outlines), view.Attribution)
	}
}

func TestInspectOff(t *testing.T) {
	b := begin(t, "-plain", "-inspect", "off", "-ticks", "5")
	if status := <-b.status; status != cli.Success || strings.Contains(b.text(), "inspector") {
		t.Errorf("exit status %d: %s", status, b.text())
	}
	b.status <- 0
}

func TestTakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	status, stdout, stderr := runEarth("-places", write(t, "places.csv", village), "-travellers", "10",
		"-ticks", "1", "-inspect", l.Addr().String())
	if status != cli.Failure || stdout != "" || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit status %d, stdout %q, stderr %q; want %d and one line", status, stdout, stderr,
			cli.Failure)
	}
	for _, want := range []string{l.Addr().String(), "taken", "-inspect", "127.0.0.1:0", "off"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr %q lacks %q", stderr, want)
		}
	}
	if status, _, stderr = runEarth("-travellers", "10", "-places", write(t, "places.csv", village),
		"-inspect", "no.such.host.invalid:1"); status != cli.Failure ||
		!strings.Contains(stderr, "another address") {
		t.Errorf("exit status %d, stderr %q", status, stderr)
	}
}

func TestWriteToken(t *testing.T) {
	u := begin(t, "-plain", "-inspect-write").url()
	var world struct{ ReadOnly bool }
	if request(t, "GET", u, "world", "", &world); world.ReadOnly || len(u.Fragment) < len("token=")+20 {
		t.Errorf("%v: read-only %v", u, world.ReadOnly)
	}
}
