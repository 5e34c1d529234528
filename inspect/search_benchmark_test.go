package inspect

import (
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

// BenchmarkSearches searches a world with a million entities. If the environment variable VAST_ENTITIES is a
// number, BenchmarkSearches also searches a world with this number of entities. In the metrics, a look is one
// visit of the inspector to the world.
func BenchmarkSearches(b *testing.B) {
	sizes := []int{1_000_000}
	if n, err := strconv.Atoi(os.Getenv("VAST_ENTITIES")); err == nil {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		w := newStillWorld(b, n)
		far := strconv.Itoa(n / 10 * 9)
		for _, c := range []struct{ name, path string }{
			{"page", asking("entities", "query", "Position, !Dead", "offset", far, "columns",
				"Position,Infected", "limit", "100")},
			{"page-again", asking("entities", "query", "Position, !Dead", "offset", far, "columns",
				"Position,Infected", "limit", "100")},
			{"page-compared", asking("entities", "query", "Position.X > 5", "offset", far, "columns",
				"Position,Infected", "limit", "100")},
			{"count", asking("count", "query", "Position, Velocity | Dead")},
			{"count-compared", asking("count", "query", "Position.X > 5, Velocity.Y == 1")},
			{"children", asking("count", "query", "Dead, ChildOf("+w.town.String()+")")},
			{"histogram", asking("histogram", "query", "Velocity", "field", "Position.X")},
			{"rows", asking("rows", "query", "Position", "limit", "10000", "columns", "Position", "format",
				"csv")},
			{"sample", asking("rows", "query", "Position", "sample", "1000", "columns", "Position", "format",
				"csv")},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) { w.bench(b, c.name, c.path) })
		}
	}
}

// stillWorld is a world that only admits visits.
type stillWorld struct {
	*Inspector
	w    *vast.World
	town vast.Entity
}

func newStillWorld(b *testing.B, n int) *stillWorld {
	w := vast.NewWorld(vast.Options{MaxEntities: n + n/8})
	position, velocity := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	infected, dead := vast.NewColumn[Infected](w), vast.NewTag(w, "Dead")
	childOf := vast.NewRelation(w, "ChildOf", vast.RelationOptions{Cyclic: true})
	s := &stillWorld{w: w, town: w.Archetype().New()}
	at := 0
	var some []vast.Entity
	w.Archetype(position, velocity).NewN(n, func(r vast.Run) {
		for i := range r.Len() {
			position.Slice(r)[i], velocity.Slice(r)[i] = Position{float32(at), 0},
				Velocity{0, float32(at % 3)}
			if at++; at%10 == 0 {
				some = append(some, r.Entity(i))
			}
		}
	})
	for i, e := range some {
		infected.Add(e, Infected{Since: int64(i)})
		if i%10 == 0 {
			dead.Add(e)
			childOf.Set(e, s.town)
		}
	}
	in, err := Serve(b.Context(), w, Options{})
	if err != nil {
		b.Fatal(err)
	}
	s.Inspector = in
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		w.Idle(func() { <-stop })
	}()
	b.Cleanup(func() {
		in.Close()
		close(stop)
		<-stopped
		w.Close()
	})
	return s
}

func (s *stillWorld) bench(b *testing.B, name, path string) {
	var looks []time.Duration
	s.asked.watch = func(look time.Duration) { looks = append(looks, look) }
	defer func() { s.asked.watch = nil }()
	handler := s.handler(s.routes())
	for b.Loop() {
		if name != "page-again" {
			s.asked.mu.Lock()
			s.asked.ranks, s.asked.lists = nil, nil
			s.asked.mu.Unlock()
		}
		r := httptest.NewRequest("GET", prefix+path, nil)
		r.Host = s.Addr().String()
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		if answer.Code != 200 {
			b.Fatal(answer.Body.String())
		}
	}
	var spent time.Duration
	for _, look := range looks {
		spent += look
	}
	slices.Sort(looks)
	micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	b.ReportMetric(micros(spent)/float64(b.N), "µs-looking/op")
	b.ReportMetric(float64(len(looks))/float64(b.N), "looks/op")
	b.ReportMetric(micros(looks[len(looks)/2]), "µs-look-p50")
	b.ReportMetric(micros(looks[len(looks)*99/100]), "µs-look-p99")
	b.ReportMetric(micros(looks[len(looks)-1]), "µs-look-max")
}
