package places_test

import (
	"fmt"
	"strings"

	"github.com/vastgo/vast/cmd/vast/earth/places"
)

func Example() {
	list, err := places.Embedded(places.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	largest := 0
	for i := range list.Len() {
		if list.Population(i) > list.Population(largest) {
			largest = i
		}
	}
	p := list.At(largest)
	fmt.Printf("%d places; the largest is %s (%s) at %.2f, %.2f with %d people\n",
		list.Len(), p.Name, p.Country, p.Lat, p.Lon, p.Population)
	fmt.Println(places.Attribution)
	// Output:
	// 199568 places; the largest is Shanghai (CN) at 31.22, 121.46 with 22315474 people
	// Places: GeoNames (geonames.org), CC BY 4.0
}

func ExampleRead() {
	table := "name,lat,lon,population\n" +
		"Utopia,12.5,45,1000\n" +
		"Erewhon,NaN,170,10\n"
	_, err := places.Read(strings.NewReader(table), "dreams.csv", places.Options{})
	fmt.Println(err)
	// Output:
	// dreams.csv:3: the latitude is "NaN", not a number from -90 to 90
}
