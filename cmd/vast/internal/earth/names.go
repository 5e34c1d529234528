package earth

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vastgo/vast"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/inspect"
)

// index finds places by name. It holds only numbers, 12 bytes a place, and reads the names from the list.
type index struct {
	list         *places.List
	byName       []uint32 // place numbers, sorted by folded name and then by population, largest first
	rank         []uint32 // the position of each place in byName
	byPopulation []uint32 // place numbers, the most populous first
}

// newIndex makes the index of a list. It takes some hundredths of a second for a hundred thousand places.
func newIndex(list *places.List) *index {
	n := list.Len()
	x := &index{list: list, byName: make([]uint32, n), rank: make([]uint32, n),
		byPopulation: make([]uint32, n)}
	length := 0
	for i := range n {
		length += len(list.Name(i))
	}
	folded := make([]byte, 0, length+length/16) // all folded names, joined
	ends := make([]uint32, n)                   // the end of each place's name in folded
	for i := range n {
		x.byName[i], x.byPopulation[i] = uint32(i), uint32(i)
		folded = appendFolded(folded, list.Name(i))
		ends[i] = uint32(len(folded))
	}
	name := func(place uint32) []byte {
		if place == 0 {
			return folded[:ends[0]]
		}
		return folded[ends[place-1]:ends[place]]
	}
	slices.SortFunc(x.byPopulation, x.comparePopulation)
	slices.SortFunc(x.byName, func(a, b uint32) int {
		if c := bytes.Compare(name(a), name(b)); c != 0 {
			return c
		}
		return x.comparePopulation(a, b)
	})
	for at, place := range x.byName {
		x.rank[place] = uint32(at)
	}
	return x
}

// comparePopulation orders places by population, the largest first, and then by number.
func (x *index) comparePopulation(a, b uint32) int {
	if more := x.list.Population(int(b)) - x.list.Population(int(a)); more != 0 {
		return more
	}
	return int(a) - int(b)
}

// prefixRange finds the places whose folded names begin with a folded prefix: x.byName[lo:hi].
func (x *index) prefixRange(prefix string) (lo, hi int) {
	lo, _ = slices.BinarySearchFunc(x.byName, prefix, func(place uint32, prefix string) int {
		return strings.Compare(fold(x.list.Name(int(place))), prefix)
	})
	hi, _ = slices.BinarySearchFunc(x.byName, prefix, func(place uint32, prefix string) int {
		if name := fold(x.list.Name(int(place))); strings.HasPrefix(name, prefix) {
			return -1
		} else {
			return strings.Compare(name, prefix)
		}
	})
	return lo, hi
}

// namesakes returns the places with the given folded name, the most populous first.
func (x *index) namesakes(folded string) (list []uint32) {
	lo, _ := x.prefixRange(folded)
	for _, place := range x.byName[lo:] {
		if fold(x.list.Name(int(place))) != folded {
			break
		}
		list = append(list, place)
	}
	return list
}

// name returns the unique name of a place, such as "Springfield, US (2)" for the second most populous place
// of this name in the US. It omits the number 1 and an unknown country.
func (x *index) name(place int) string {
	name, country := x.list.Name(place), x.list.Country(place)
	folded, nth := fold(name), 1
	for at := int(x.rank[place]) - 1; at >= 0; at-- {
		other := int(x.byName[at])
		if fold(x.list.Name(other)) != folded {
			break
		}
		if x.list.Country(other) == country {
			nth++
		}
	}
	if country != "" {
		name += ", " + country
	}
	if nth > 1 {
		name += fmt.Sprintf(" (%d)", nth)
	}
	return name
}

// find returns the place that a text names. The text has the form that [index.name] returns; the country and
// the number are optional. If several places match, find returns the most populous place. Case and accents do
// not matter.
func (x *index) find(text string) (place int, ok bool) {
	text = strings.TrimSpace(text)
	if place, ok := x.nth(text, 1); ok {
		return place, true
	}
	name, last, ok := strings.Cut(text, " (")
	if !ok || strings.Contains(last, " (") {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(last, ")"))
	if err != nil || n < 1 || !strings.HasSuffix(last, ")") {
		return 0, false
	}
	return x.nth(name, n)
}

// nth returns the n-th most populous of the places that a text names. The text is a name, or a name, a comma
// and a country.
func (x *index) nth(text string, n int) (place int, ok bool) {
	if all := x.namesakes(fold(text)); len(all) >= n {
		return int(all[n-1]), true
	}
	comma := strings.LastIndexByte(text, ',')
	if comma < 0 {
		return 0, false
	}
	country := strings.TrimSpace(text[comma+1:])
	for _, place := range x.namesakes(fold(strings.TrimSpace(text[:comma]))) {
		if strings.EqualFold(x.list.Country(int(place)), country) {
			if n--; n == 0 {
				return int(place), true
			}
		}
	}
	return 0, false
}

// maxSorted is the largest number of matching places that suggest sorts. If more places match, suggest
// searches x.byPopulation instead.
const maxSorted = 1024

// suggest returns up to n places whose names begin with the text, the most populous first. If the text has a
// comma, the part after the comma is the beginning of the country.
func (x *index) suggest(text string, n int) (found []int) {
	name, country, _ := strings.Cut(text, ",")
	country = strings.ToUpper(strings.TrimSpace(country))
	lo, hi := x.prefixRange(fold(strings.TrimLeft(name, " ")))
	take := func(place uint32) {
		if len(found) < n && strings.HasPrefix(strings.ToUpper(x.list.Country(int(place))), country) {
			found = append(found, int(place))
		}
	}
	if hi-lo <= maxSorted {
		some := slices.Clone(x.byName[lo:hi])
		slices.SortFunc(some, x.comparePopulation)
		for _, place := range some {
			take(place)
		}
		return found
	}
	for _, place := range x.byPopulation {
		if at := int(x.rank[place]); at >= lo && at < hi {
			take(place)
		}
		if len(found) == n {
			break
		}
	}
	return found
}

// names gives names to the places of an Earth; travellers have no names. It implements inspect.Namer.
type names struct {
	*index
	earth *simulation.Earth
}

// Name implements inspect.Namer.
func (n names) Name(e vast.Entity) (string, bool) {
	place, ok := n.earth.PlaceNumber(e)
	if !ok {
		return "", false
	}
	return n.name(place), true
}

// Find implements inspect.Namer.
func (n names) Find(name string) (vast.Entity, bool) {
	place, ok := n.find(name)
	if !ok {
		return vast.Entity{}, false
	}
	return n.earth.Place(place), true
}

// Suggest implements inspect.Namer.
func (n names) Suggest(prefix string, most int) (list []inspect.Suggestion) {
	for _, place := range n.suggest(prefix, most) {
		s := inspect.Suggestion{Name: n.name(place), Entity: n.earth.Place(place)}
		if people := n.list.Population(place); people > 0 {
			s.Detail = tty.Grouped(people) + " inhabitants"
		}
		list = append(list, s)
	}
	return list
}
