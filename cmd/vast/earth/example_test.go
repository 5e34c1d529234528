package earth_test

import (
	"fmt"

	"github.com/vastgo/vast/cmd/vast/earth"
)

func Example() {
	e, err := earth.New(earth.Config{Travellers: 10_000, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	for range 60 {
		if err := e.Tick(); err != nil {
			fmt.Println(err)
			return
		}
	}
	c := e.Counts()
	fmt.Printf("%d places, one hour later\n", c.Places)
	fmt.Println(c.Susceptible+c.Infectious+c.Recovered == c.Travellers)
	fmt.Println(c.Travellers == 10_000+c.Born-c.Died)
	// Output:
	// 199568 places, one hour later
	// true
	// true
}
