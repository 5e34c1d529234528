package top

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/attach"
	"github.com/vastgo/vast/inspect"
)

// program simulates a program with an inspector. For each call of the method next, the stream sends a sample
// and the costs.
type program struct {
	*httptest.Server
	mu        sync.Mutex
	sample    inspect.Sample
	costs     inspect.Costs
	streams   int           // number of streams opened so far
	due       chan struct{} // one token for each sample to send
	cut       chan struct{} // one token for each stream to cut
	refuse    int           // HTTP error status of all answers except the stream, 0 for no error
	worldName string
}

// startTime is the time of the first sample, in seconds since 1970.
const startTime = 1_700_000_000

func newProgram(t *testing.T) *program {
	p := &program{due: make(chan struct{}, 100), cut: make(chan struct{}, 100), worldName: "demo"}
	p.sample = inspect.Sample{
		At: startTime, Admitting: true, Entities: 1_199_568, ChangesPerSecond: 6120,
		Pace: &inspect.Pace{Tick: 86_400, TicksPerSecond: 60.01,
			TickSeconds:   inspect.TickTimes{P50: 0.0042, P99: 0.0061, Worst: 0.0098},
			BudgetSeconds: 1. / 60, Late: 2},
		Memory: inspect.MemoryUse{Reserved: 1 << 30, Committed: 256 << 20, Resident: 192 << 20,
			GoHeap: 8 << 20},
		GC:         inspect.CollectorUse{Collections: 41, PauseWorst: 8e-5, PausesPerSecond: 1.9},
		Goroutines: 14, CPU: 0.31,
	}
	for i := range 12 {
		p.costs.Systems = append(p.costs.Systems,
			inspect.SystemCost{Name: fmt.Sprintf("system%d", i), Phase: "update", Runs: 86_400,
				Total: 100, Load: 0.2 / float64(i+1), Last: 1e-3, P50: 2e-3, P99: 3e-3, Worst: 9e-3})
		p.costs.Columns = append(p.costs.Columns,
			inspect.ColumnCost{Name: fmt.Sprintf("Column%d", i), Type: "game.T", Size: 8 + i,
				Entities: 1000, Slots: 4000, Reserved: 1 << 30, Committed: (100 - i) << 20})
	}
	mux := http.NewServeMux()
	answer := func(path string, v func() any) {
		mux.HandleFunc("GET /api/v1/"+path, func(w http.ResponseWriter, r *http.Request) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.refuse != 0 {
				w.WriteHeader(p.refuse)
				fmt.Fprint(w, `{"error":{"code":"token","message":"a token is required"}}`)
				return
			}
			_ = json.NewEncoder(w).Encode(v())
		})
	}
	answer("world", func() any { return map[string]string{"name": p.worldName} })
	answer("costs", func() any { return p.costs })
	answer("overview", func() any {
		return overview{p.sample, []inspect.Sample{p.sample}}
	})
	mux.HandleFunc("GET /api/v1/stream", p.stream)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

func (p *program) stream(w http.ResponseWriter, r *http.Request) {
	p.change(func() { p.streams++ })
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush()
	for {
		select {
		case <-p.due:
			p.mu.Lock()
			sample, _ := json.Marshal(p.sample)
			costs, _ := json.Marshal(p.costs)
			p.mu.Unlock()
			fmt.Fprintf(w, "event: overview\ndata: %s\n\nevent: costs\ndata: %s\n\n", sample, costs)
			w.(http.Flusher).Flush()
		case <-p.cut:
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			return
		}
	}
}

// change calls f with p.mu locked.
func (p *program) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// next advances the sample by one second, lets f change the sample, and sends it on the stream.
func (p *program) next(f func(*inspect.Sample)) {
	p.change(func() {
		pace := *p.sample.Pace
		p.sample.Pace = &pace
		p.sample.At++
		p.sample.Tick += 60
		if f != nil {
			f(&p.sample)
		}
	})
	p.due <- struct{}{}
}

// feed returns a feed that attaches again one millisecond after it loses the stream.
func (p *program) feed(t *testing.T) *feed {
	t.Helper()
	attached, err := attach.New(p.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	f := newFeed(attached)
	f.wait = func(time.Duration) <-chan time.Time { return time.After(time.Millisecond) }
	return f
}

func (p *program) state(t *testing.T) *state {
	t.Helper()
	f, s := p.feed(t), newState("127.0.0.1:1")
	if err := f.begin(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}
