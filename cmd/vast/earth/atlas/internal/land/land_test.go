package land

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"
)

var sample = []Ring{
	{{Lat: 0, Lon: 0}, {Lat: 10.5, Lon: 0}, {Lat: 10.5, Lon: -20.25}},
	{{Lat: 90, Lon: 180}, {Lat: -90, Lon: 180}, {Lat: -90, Lon: -180}, {Lat: 90, Lon: -180}},
}

func TestRoundTrip(t *testing.T) {
	got, err := Decode(Encode(sample))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, sample, func(a, b Ring) bool { return slices.Equal(a, b) }) {
		t.Errorf("got %v, want %v", got, sample)
	}
}

func TestEncodeDropsWhatRoundsAway(t *testing.T) {
	got, err := Decode(Encode([]Ring{
		{{1, 1}, {1.001, 1.001}, {1, 2}, {2, 2}, {1, 1}}, // two points become equal, and the ends are equal
		{{5, 5}, {5.001, 5}, {5, 5.001}},                 // all points become equal
		{},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := Ring{{1, 1}, {1, 2}, {2, 2}}
	if len(got) != 1 || !slices.Equal(got[0], want) {
		t.Errorf("got %v, want one ring %v", got, want)
	}
}

func TestDamage(t *testing.T) {
	packed := Encode(sample)
	for n := range packed {
		if _, err := Decode(packed[:n]); err == nil {
			t.Errorf("Decode accepted the first %d of %d bytes", n, len(packed))
		}
	}
	for i := range packed {
		damaged := bytes.Clone(packed)
		damaged[i] ^= 0x10
		if _, err := Decode(damaged); err == nil {
			t.Errorf("Decode did not notice damage to byte %d", i)
		}
	}
}

func seal(body []byte) []byte {
	return binary.LittleEndian.AppendUint32(body, crc32.ChecksumIEEE(body))
}

func TestWrongContent(t *testing.T) {
	start := []byte(magic)
	for name, body := range map[string][]byte{
		"huge number of rings": binary.AppendUvarint(bytes.Clone(start), 1<<60),
		"huge number of points": append(bytes.Clone(start), 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0,
			0),
		"two points":       append(bytes.Clone(start), 1, 2, 0, 0, 2, 2, 0, 0, 0),
		"more bytes":       append(bytes.Clone(start), 0, 0),
		"latitude over 90": binary.AppendVarint(append(bytes.Clone(start), 1, 3, 0, 0, 0, 0, 0), 9001),
	} {
		if rings, err := Decode(seal(body)); err == nil {
			t.Errorf("%s: got %v, want an error", name, rings)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(sample))
	f.Add(Encode(nil))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= crc32.Size {
			data = seal(bytes.Clone(data[:len(data)-crc32.Size]))
		}
		rings, err := Decode(data)
		if err != nil {
			return
		}
		points := 0
		for _, ring := range rings {
			points += len(ring)
			for _, p := range ring {
				if !(p.Lat >= -90 && p.Lat <= 90 && p.Lon >= -180 && p.Lon <= 180) {
					t.Fatalf("a point is off the Earth: %v", p)
				}
			}
		}
		if 2*points > len(data) {
			t.Fatalf("%d points were decoded from only %d bytes", points, len(data))
		}
	})
}
