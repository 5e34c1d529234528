package places

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

const (
	// unitsPerDegree gives positions the resolution of GeoNames.
	unitsPerDegree = 100_000

	maxLat = 90 * unitsPerDegree
	maxLon = 180 * unitsPerDegree

	// MaxPlaces is the largest number of places in a List. It bounds the cost of loading: a file with more
	// places is an error.
	MaxPlaces = 1 << 22

	// maxPopulation lets a population fit in an int32, and the sum of all populations in an int64.
	maxPopulation = 1<<31 - 1

	maxNameBytes    = 400 // GeoNames allows 200 characters
	maxCountryBytes = 80
	maxCountries    = 1 << 16
)

// Place is a copy of one place of a List.
type Place struct {
	Name       string  // UTF-8, without control characters, never empty
	Country    string  // in the embedded list: ISO 3166 code of two letters; may be empty in other lists
	Lat, Lon   float64 // degrees, north and east positive, within ±90 and ±180
	Population int     // 0: not known
}

// List is a list of places in Hilbert order (see Terminology). It is immutable, so any number of goroutines
// may read it at the same time. It takes 19 bytes for each place, and the bytes of the names.
//
// The methods panic if an index is out of range.
type List struct {
	lat, lon   []int32 // in degrees times unitsPerDegree
	population []int32
	country    []uint16 // index into countries
	countries  []string
	names      string   // each name followed by '\n'
	nameEnd    []uint32 // offset of the '\n' that ends the name
}

// Len returns the number of places.
func (l *List) Len() int { return len(l.lat) }

// At returns a copy of place i.
func (l *List) At(i int) Place {
	return Place{l.Name(i), l.Country(i), l.Lat(i), l.Lon(i), l.Population(i)}
}

// All yields every place with its index, in ascending order of the index.
func (l *List) All() iter.Seq2[int, Place] {
	return func(yield func(int, Place) bool) {
		for i := range l.Len() {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// Lat returns the latitude of place i in degrees, north positive.
func (l *List) Lat(i int) float64 { return float64(l.lat[i]) / unitsPerDegree }

// Lon returns the longitude of place i in degrees, east positive.
func (l *List) Lon(i int) float64 { return float64(l.lon[i]) / unitsPerDegree }

// Population returns the number of inhabitants of place i; 0 means not known.
func (l *List) Population(i int) int { return int(l.population[i]) }

// Country returns the country of place i.
func (l *List) Country(i int) string { return l.countries[l.country[i]] }

// Name returns the name of place i. The name is a substring of one string with all names (see Lifetime).
func (l *List) Name(i int) string {
	start := uint32(0)
	if i > 0 {
		start = l.nameEnd[i-1] + 1
	}
	return l.names[start:l.nameEnd[i]]
}

// key returns the distance of place i along the Hilbert curve.
func (l *List) key(i int) uint64 {
	return hilbertKey(uint32(l.lon[i]+maxLon), uint32(l.lat[i]+maxLat))
}

// builder collects places in the order of a file and sorts them at the end.
type builder struct {
	rows      List // nameEnd and names are unused: the names are in text
	text      []byte
	textEnd   []uint32 // offset of the end of each name in text
	countryOf map[string]uint16
}

// add appends one place, whose values the caller has checked. It returns false if there are too many
// countries.
func (b *builder) add(name []byte, country string, lat, lon, population int32) bool {
	index, known := b.countryOf[country]
	if !known {
		if len(b.rows.countries) == maxCountries {
			return false
		}
		if b.countryOf == nil {
			b.countryOf = make(map[string]uint16)
		}
		index = uint16(len(b.rows.countries))
		country = strings.Clone(country)
		b.countryOf[country] = index
		b.rows.countries = append(b.rows.countries, country)
	}
	b.rows.country = append(b.rows.country, index)
	b.rows.lat = append(b.rows.lat, lat)
	b.rows.lon = append(b.rows.lon, lon)
	b.rows.population = append(b.rows.population, population)
	b.text = append(b.text, name...)
	b.textEnd = append(b.textEnd, uint32(len(b.text)))
	return true
}

func (b *builder) name(i uint32) []byte {
	start := uint32(0)
	if i > 0 {
		start = b.textEnd[i-1]
	}
	return b.text[start:b.textEnd[i]]
}

// list returns the places in Hilbert order. Places at one position are ordered by name, country and
// population. Therefore the List does not depend on the order of the rows in the file.
func (b *builder) list() *List {
	type row struct {
		key   uint64
		index uint32
	}
	order := make([]row, b.rows.Len())
	for i := range order {
		order[i] = row{b.rows.key(i), uint32(i)}
	}
	slices.SortFunc(order, func(p, q row) int {
		if c := cmp.Compare(p.key, q.key); c != 0 {
			return c
		}
		return cmp.Or(
			slices.Compare(b.name(p.index), b.name(q.index)),
			cmp.Compare(b.rows.Country(int(p.index)), b.rows.Country(int(q.index))),
			cmp.Compare(b.rows.population[p.index], b.rows.population[q.index]),
		)
	})

	n := len(order)
	l := &List{
		lat:        make([]int32, n),
		lon:        make([]int32, n),
		population: make([]int32, n),
		country:    make([]uint16, n),
		nameEnd:    make([]uint32, n),
	}
	// The numbers of the countries must not depend on the order of the rows, either.
	renumbered := make(map[uint16]uint16, len(b.rows.countries))
	var names strings.Builder
	names.Grow(len(b.text) + n)
	for i, r := range order {
		l.lat[i] = b.rows.lat[r.index]
		l.lon[i] = b.rows.lon[r.index]
		l.population[i] = b.rows.population[r.index]
		old := b.rows.country[r.index]
		if _, known := renumbered[old]; !known {
			renumbered[old] = uint16(len(l.countries))
			l.countries = append(l.countries, b.rows.countries[old])
		}
		l.country[i] = renumbered[old]
		names.Write(b.name(r.index))
		l.nameEnd[i] = uint32(names.Len())
		names.WriteByte('\n')
	}
	l.names = names.String()
	return l
}
