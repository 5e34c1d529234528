package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// output collects text. A test may read it while the command writes.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// browser sends requests to the inspector of a running command.
type browser struct {
	t   *testing.T
	url string
}

func (b browser) get(path string, query ...string) []byte {
	b.t.Helper()
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	answer, err := http.Get(b.url + path + "?" + values.Encode())
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %d %s, %v", path, answer.StatusCode, body, err)
	}
	return body
}

func (b browser) read(into any, path string, query ...string) {
	b.t.Helper()
	if err := json.Unmarshal(b.get("api/v1/"+path, query...), into); err != nil {
		b.t.Fatalf("%s: %v", path, err)
	}
}

func (b browser) count(query string) int {
	b.t.Helper()
	var answer struct{ Count int }
	b.read(&answer, "count", "query", query)
	return answer.Count
}

// inspected runs the command with three regions and an inspector until the test ends.
func inspected(t *testing.T, more ...string) browser {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	flags := append(smallEarth(t, 1_000_000), "-regions", "3", "-inspect", "127.0.0.1:0")
	var stdout, stderr output
	ended := make(chan error)
	go func() { ended <- run(ctx, append(flags, more...), nil, &stdout, &stderr) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		_, rest, found := strings.Cut(stdout.String()+stderr.String(), "# inspector: ")
		if address, _, complete := strings.Cut(rest, "\n"); found && complete {
			return browser{t, address}
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("the command prints no address: %s%s", &stdout, &stderr)
		}
	}
}

func (b browser) wait() {
	b.t.Helper()
	for began := time.Now(); b.count("Population.Travellers > 1000, Ticking.Tick > 0") < 3; {
		if time.Since(began) > time.Minute {
			b.t.Fatal("the regions do not run")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func TestInspector(t *testing.T) {
	t.Parallel()
	b := inspected(t, "-json=false", "-plain")
	b.wait()
	var rows struct {
		Rows []struct {
			Name   string
			Values map[string]string
		}
	}
	b.read(&rows, "rows", "query", "Owner, Population, Ticking, Capital")
	if len(rows.Rows) != 3 {
		t.Fatalf("the inspector has %d regions, want 3", len(rows.Rows))
	}
	_, rest, _ := strings.Cut(rows.Rows[0].Values["Owner"], `Process:"`)
	process, _, _ := strings.Cut(rest, `"`)
	for r, row := range rows.Rows {
		if row.Name != fmt.Sprint("region ", r) || len(process) < 8 ||
			!strings.Contains(row.Values["Owner"], process) {
			t.Errorf("region %d is %+v", r, row)
		}
	}
	for query, want := range map[string]int{"Waiting": 0, "Cluster.Regions == 3, Cluster.Processes == 1": 1,
		fmt.Sprintf("Owner.Process == %q", process): 3} {
		if got := b.count(query); got != want {
			t.Errorf("%s: %d entities, want %d", query, got, want)
		}
	}
	testMap(t, b)

	metrics := string(b.get("metrics"))
	for _, want := range []string{`vast_cluster_region_owned{cluster="earth",region="2"} 1`,
		`vast_cluster_processes{cluster="earth"} 1`, `vast_entities{world="regions"} 4`} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("/metrics lacks %s", want)
		}
	}
}

func testMap(t *testing.T, b browser) {
	var marks struct {
		Landmarks []struct {
			X, Y float64
			Name string
		}
	}
	world := []string{"x0", "-180", "y0", "-90", "x1", "180", "y1", "90"}
	b.read(&marks, "views/regions/landmarks", append(world, "most", "10")...)
	if len(marks.Landmarks) != 3 {
		t.Fatalf("the landmarks are %+v", marks.Landmarks)
	}
	type picked struct {
		Picked []struct {
			Entity, Name string
			Facts        []struct {
				Name  string
				Value float64
			}
		}
	}
	var total float64
	for _, m := range marks.Landmarks {
		var p picked
		b.read(&p, "views/regions/pick", "x", fmt.Sprint(m.X), "y", fmt.Sprint(m.Y), "radius", "0.1")
		if n := len(p.Picked); n < 2 || p.Picked[0].Name != m.Name || p.Picked[n-1].Name != "cluster earth" ||
			p.Picked[0].Facts[1].Name != "travellers" || p.Picked[0].Facts[1].Value < 1000 {
			t.Fatalf("at %s, the inspector finds %+v", m.Name, p)
		}
		facts := p.Picked[len(p.Picked)-1].Facts
		if len(facts) != 5 || facts[3].Value != 3 || facts[4].Value != 1 {
			t.Fatalf("the facts of the cluster are %+v", facts)
		}
		total = facts[1].Value
		var where struct{ X, Y float64 }
		b.read(&where, "views/regions/where", "entity", p.Picked[0].Entity)
		if where.X != m.X || where.Y != m.Y {
			t.Errorf("%s is at %+v and its landmark at %+v", m.Name, where, m)
		}
	}
	for _, size := range []string{"7", "100", "1000"} {
		travellers, infectious := counts(b.get("api/v1/views/regions/picture",
			append(world, "columns", size, "rows", "450")...))
		if float64(travellers) < 0.95*total || float64(travellers) > 1.05*total || infectious == 0 ||
			infectious > travellers {
			t.Errorf("%s columns have %d travellers, %d of them infectious, want about %v", size, travellers,
				infectious, total)
		}
	}
	// Two pictures of one square, with 1 cell and with 1,600 cells, have the same number of travellers.
	m := marks.Landmarks[0]
	corner := func(v float64) (from, to string) {
		lo := float64(int(v*2+1000)-1000) / 2
		return fmt.Sprint(lo), fmt.Sprint(lo + 0.5)
	}
	x0, x1 := corner(m.X)
	y0, y1 := corner(m.Y)
	for range 100 { // try again: a new sample between the two pictures changes the counts
		var both [2]int
		for i, n := range []string{"1", "40"} {
			both[i], _ = counts(b.get("api/v1/views/regions/picture", "x0", x0, "x1", x1, "y0", y0, "y1", y1,
				"columns", n, "rows", n))
		}
		if both[0] > 0 && both[0] == both[1] {
			return
		}
	}
	t.Error("pictures of a square with 1 and with 1,600 cells never have the same number of travellers")
}

func counts(picture []byte) (travellers, infectious int) {
	const head = 48
	cells := (len(picture) - head) / 8
	for i := range cells {
		travellers += int(binary.LittleEndian.Uint32(picture[head+4*i:]))
		infectious += int(binary.LittleEndian.Uint32(picture[head+4*(cells+i):]))
	}
	return travellers, infectious
}

// With -json, the command also prints the address, and the inspector also gets samples.
func TestInspectorOfJSON(t *testing.T) {
	t.Parallel()
	b := inspected(t)
	b.wait()
}

func TestInspectorCannotListen(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for address, want := range map[string]string{
		l.Addr().String():        "is taken by another program: choose another address with -inspect",
		"no.such.host.invalid:1": "try another address with -inspect",
	} {
		var stdout, stderr output
		args := append(smallEarth(t, 1), "-inspect", address)
		if err := run(t.Context(), args, nil, &stdout, &stderr); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("-inspect %s: %v, want %q", address, err, want)
		}
	}
}
