package inspect_test

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect"
	"github.com/vastgo/vast/sched"
)

type Health struct{ Points int }

// A program serves its world, and a client asks for an entity with a low value.
func Example() {
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
	// Output: {"rows":[{"id":"8.1","slot":8,"name":"","values":{"Health":"{Points:8}"}}]}
}
