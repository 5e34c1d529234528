package inspect_test

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect"
)

// A game shows its units on a map, burning ones in red.
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
