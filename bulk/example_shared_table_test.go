package bulk_test

import (
	"fmt"
	"sync"

	"github.com/vastgo/vast/bulk"
)

// Route is a value that a server looks up for each request. An operator sometimes replaces a Route.
type Route struct {
	Backend uint32
	Version uint32
}

// The requests never wait for the goroutine that replaces a route.
func ExampleSharedTable() {
	routes, err := bulk.NewSharedTable[Route](bulk.Options{Name: "routes", Capacity: 1_000_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer routes.Close()

	writer := routes.Writer()
	defer writer.Close()
	writer.Set(42, Route{Backend: 7, Version: 1})

	var requests sync.WaitGroup
	for range 4 {
		requests.Go(func() {
			reader := routes.Reader() // each goroutine has its own reader
			defer reader.Close()
			for range 1000 {
				reader.Enter()
				route := reader.Get(42)
				if route.Backend != 6+route.Version { // never a mixture of two routes
					fmt.Println("torn:", *route)
				}
				reader.Leave()
			}
		})
	}
	writer.Set(42, Route{Backend: 8, Version: 2})
	writer.Update(42, func(r *Route) { r.Backend++; r.Version++ })
	requests.Wait()

	reader := routes.Reader()
	defer reader.Close()
	route, ok := reader.Load(42)
	fmt.Println(route, ok, routes.Len())
	// Output: {9 3} true 1
}
