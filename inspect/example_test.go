package inspect_test

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect"
	"github.com/vastgo/vast/sched"
)

// A program serves its world. A client requests the first entity that has between 8 and 49 Points.
func Example() {
	type Health struct{ Points int }
	w := vast.NewWorld(vast.Options{Name: "game"})
	defer w.Close()
	health := vast.NewColumn[Health](w)
	w.Archetype(health).NewN(1000, func(r vast.Run) {
		for i := range health.Slice(r) {
			health.Slice(r)[i].Points = i % 100
		}
	})
	s := sched.New(w, sched.Options{})
	defer s.Close()

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	in, err := inspect.Serve(ctx, w, inspect.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer in.Close()
	go func() {
		defer stop()
		answer, err := http.Get(in.URL() + "api/v1/rows?limit=1&query=Health.Points+<+50,+Health.Points+>+7")
		if err != nil {
			fmt.Println(err)
			return
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		fmt.Println(string(text))
	}()
	if err := s.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: {"rows":[{"id":"8.1","slot":8,"name":"","disabled":false,"values":{"Health":"{Points:8}"}}]}
}

// A game shows its units on a map and draws the burning units in red.
func ExamplePlane() {
	type Position struct{ X, Y float32 }
	w := vast.NewWorld(vast.Options{Name: "game"})
	defer w.Close()
	position, burning := vast.NewColumn[Position](w), vast.NewTag(w, "Burning")

	field := inspect.Plane("field", inspect.Bounds{X1: 1000, Y1: 1000}, position,
		func(p *Position) (x, y float64) { return float64(p.X), float64(p.Y) }, burning)
	field.Title, field.Unit = "Field of battle", "m"

	in, err := inspect.Serve(context.Background(), w, inspect.Options{Views: []inspect.View{field}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer in.Close()

	answer, err := http.Get(in.URL() + "api/v1/views")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	fmt.Println(string(body))
	// Output: {"views":[{"id":"field","title":"Field of battle"}]}
}

// A program adds the metrics of a world and of the memory to its own registry. It needs no inspector.
func ExampleNewCollector() {
	world := vast.NewWorld(vast.Options{Name: "town"})
	registry := prometheus.NewRegistry()
	registry.MustRegister(inspect.NewCollector(world), inspect.NewMemoryCollector())
	http.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
}
