// Package land packs the outlines of land into few bytes and reads them back.
package land

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
)

// A Point is a position in degrees, north and east positive.
type Point struct{ Lat, Lon float32 }

// A Ring is a closed outline; its first point is not repeated at the end. A point is on land if an odd number
// of rings surrounds it.
type Ring []Point

// The packed land is
//
//	magic
//	number of rings
//	for each ring: number of points, then each point's longitude and latitude
//	in 0.01 degree, as differences from the previous point; the first point as differences from 0, 0
//	CRC-32 (IEEE) of all previous bytes, little-endian
//
// Counts are unsigned varints, and differences are signed varints.
const (
	magic          = "VASTLND\x01"
	unitsPerDegree = 100 // 0.01 degree is about 1/20 of a braille dot on a map of 1000 columns
)

// Encode packs the outlines of land. It rounds positions to 0.01 degree. Neighbouring points that are then
// equal become one point, and rings of fewer than three points are dropped.
func Encode(rings []Ring) []byte {
	var kept [][][2]int64
	for _, ring := range rings {
		var points [][2]int64
		for _, p := range ring {
			points = append(points, [2]int64{
				int64(math.Round(float64(p.Lon) * unitsPerDegree)),
				int64(math.Round(float64(p.Lat) * unitsPerDegree)),
			})
		}
		points = slices.Compact(points)
		if n := len(points); n > 1 && points[0] == points[n-1] {
			points = points[:n-1]
		}
		if len(points) >= 3 {
			kept = append(kept, points)
		}
	}
	out := binary.AppendUvarint([]byte(magic), uint64(len(kept)))
	for _, points := range kept {
		out = binary.AppendUvarint(out, uint64(len(points)))
		var prev [2]int64
		for _, p := range points {
			out = binary.AppendVarint(out, p[0]-prev[0])
			out = binary.AppendVarint(out, p[1]-prev[1])
			prev = p
		}
	}
	return binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

// Decode unpacks the result of Encode. It returns an error for damaged bytes, and allocates at most a few
// times len(packed) bytes.
func Decode(packed []byte) ([]Ring, error) {
	body := len(packed) - crc32.Size
	if body < len(magic) || string(packed[:len(magic)]) != magic {
		return nil, errors.New("not packed land")
	}
	if got, want := crc32.ChecksumIEEE(packed[:body]),
		binary.LittleEndian.Uint32(packed[body:]); got != want {
		return nil, fmt.Errorf("damaged: the checksum is %08x, not %08x", got, want)
	}
	rest := packed[len(magic):body]
	// count reads the number of elements that follow. Each element takes at least size bytes.
	count := func(size int) (int, bool) {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > uint64(len(rest)-n)/uint64(size) {
			return 0, false
		}
		rest = rest[n:]
		return int(v), true
	}
	move := func(at *int64, limit int64) bool {
		v, n := binary.Varint(rest)
		if n <= 0 || v < -2*limit || v > 2*limit {
			return false
		}
		rest = rest[n:]
		*at += v
		return -limit <= *at && *at <= limit
	}

	errShape := errors.New("damaged: a count or a position is wrong")
	total, ok := count(1 + 3*2)
	if !ok {
		return nil, errShape
	}
	rings := make([]Ring, total)
	for i := range rings {
		points, ok := count(2)
		if !ok || points < 3 {
			return nil, errShape
		}
		rings[i] = make(Ring, points)
		var lon, lat int64
		for j := range rings[i] {
			if !move(&lon, 180*unitsPerDegree) || !move(&lat, 90*unitsPerDegree) {
				return nil, errShape
			}
			rings[i][j] = Point{Lat: float32(lat) / unitsPerDegree, Lon: float32(lon) / unitsPerDegree}
		}
	}
	if len(rest) > 0 {
		return nil, errShape
	}
	return rings, nil
}
