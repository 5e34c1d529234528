package places

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

// FuzzRead checks that Read returns an *Error, or a valid list that can be packed and read again. If sealed
// is true, the checksum is corrected first, so that Read decodes the sections.
func FuzzRead(f *testing.F) {
	l, err := Read(bytes.NewReader([]byte(threePlaces)), "seed", Options{})
	if err != nil {
		f.Fatal(err)
	}
	var packed bytes.Buffer
	if err := l.Write(&packed); err != nil {
		f.Fatal(err)
	}
	f.Add(packed.Bytes(), true)
	f.Add(packed.Bytes(), false)
	f.Add(zip(packed.Bytes()), false)
	f.Add([]byte(threePlaces), false)
	f.Add(zip([]byte(threePlaces)), false)
	f.Add([]byte(geoNamesRow("Suva", "-18.14161", "178.44149", "FJ", "77366")), false)
	f.Add([]byte("name\tlat\tlon\n\"a \"\"b\"\"\"\tNaN\t-Inf\n"), false)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		if sealed && len(data) >= headerBytes {
			data = seal(bytes.Clone(data))
		}
		l, err := Read(bytes.NewReader(data), "fuzz", Options{})
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok || l != nil {
				t.Fatalf("got %v, %v; want an *Error", l, err)
			}
			return
		}
		if l.Len() == 0 || l.Len() > MaxPlaces {
			t.Fatalf("%d places", l.Len())
		}
		for i, p := range l.All() {
			if !(math.Abs(p.Lat) <= 90 && math.Abs(p.Lon) <= 180) || p.Population < 0 ||
				checkName(p.Name) != nil {
				t.Fatalf("place %d is %+v", i, p)
			}
		}
		var packed bytes.Buffer
		if err := l.Write(&packed); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&packed, "packed", Options{})
		if err != nil {
			t.Fatal(err)
		}
		equalLists(t, again, l)
	})
}
