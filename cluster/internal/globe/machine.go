// Package globe runs the Earth of `vast earth` in a cluster. Each region of the Earth is a [cluster.Machine].
package globe

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/vastgo/vast/cluster"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
)

// Machine is the [cluster.Machine] of a region of the Earth.
type Machine struct {
	*simulation.Region
	lastTick uint64
	picture  Picture
	encoded  string    // the picture as text
	repaint  time.Time // when the picture is out of date
}

// New returns the machine of a region. The status contains the digest of the state only after the tick
// lastTick. The results of ticks do not depend on lastTick, so a cluster may run the same ticks again later
// with another lastTick.
func New(g *simulation.Globe, region int, lastTick uint64) *Machine {
	return &Machine{Region: g.Region(region), lastTick: lastTick}
}

var _ cluster.Machine = (*Machine)(nil)

// ticksPerHash is the number of ticks from one hash of the state to the next. With a hash, a process that
// runs the tick again detects a different state. A hash takes as long as several ticks.
const ticksPerHash = 512

// Tick implements [cluster.Machine].
func (m *Machine) Tick(tick uint64, received, inputs [][]byte) ([][]byte, cluster.Hash, error) {
	if len(inputs) > 0 {
		return nil, cluster.Hash{}, fmt.Errorf("tick %d has %d inputs, but the Earth accepts no inputs", tick,
			len(inputs))
	}
	sections, err := m.Region.Tick(tick, received)
	if err != nil {
		return nil, cluster.Hash{}, err
	}
	for i, s := range sections {
		sections[i] = bytes.Clone(s) // the region reuses the memory
	}
	if tick%ticksPerHash != 0 {
		return sections, cluster.Hash{}, nil
	}
	s := m.State()
	return sections, sha256.Sum256(s[:]), nil
}

// Figures are the status of a region, as JSON.
type Figures struct {
	Tick       uint64 `json:"tick"`
	Places     int    `json:"places"`
	Entities   int    `json:"entities"`
	Travellers int    `json:"travellers"`
	Moving     int    `json:"moving"`
	InTransit  int    `json:"in_transit"` // between two regions; the counts above leave them out
	Infectious int    `json:"infectious"`
	Recovered  int    `json:"recovered"`
	Changes    uint64 `json:"structural_changes"`
	Crossed    uint64 `json:"crossed"`         // departures for other regions so far
	State      string `json:"state,omitempty"` // digest in hexadecimal; only after lastTick
	Picture    string `json:"picture"`         // see Picture.String
}

// repaintFactor is the least time from one picture to the next, divided by the time that the painting of a
// picture takes. A million travellers take some 20 ms, so their picture is renewed at most every 2 s. The
// picture after lastTick is always new.
const repaintFactor = 100

// Status returns the figures of the region as JSON.
func (m *Machine) Status() []byte {
	c := m.Earth().Counts()
	f := Figures{Tick: c.Ticks, Places: c.Places, Entities: c.Entities, Travellers: c.Travellers,
		Moving: c.Moving, InTransit: m.InTransit(), Infectious: c.Infectious, Recovered: c.Recovered,
		Changes: c.StructuralChanges, Crossed: m.Crossed()}
	if began := time.Now(); c.Ticks == m.lastTick || began.After(m.repaint) {
		m.picture.paint(m.Earth())
		m.encoded = m.picture.String()
		m.repaint = began.Add(repaintFactor * time.Since(began))
	}
	f.Picture = m.encoded
	if c.Ticks == m.lastTick {
		s := m.State()
		f.State = hex.EncodeToString(s[:])
	}
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // impossible: the fields are numbers and strings
	}
	return b
}

// Picture counts the travellers in each square of half a degree. The squares are in rows from north to south,
// and in each row from west to east.
type Picture struct {
	Travellers, Infectious [SquaresAcross * SquaresDown]uint32
}

// SquaresAcross is the number of squares in a row, and SquaresDown is the number of rows.
const SquaresAcross, SquaresDown = 720, 360

func (p *Picture) paint(e *simulation.Earth) {
	clear(p.Travellers[:])
	clear(p.Infectious[:])
	for part := range simulation.CrowdParts {
		for c := range e.Crowds(part) {
			at := SquareAt(float64(c.Lat), float64(c.Lon))
			p.Travellers[at] += c.Travellers
			p.Infectious[at] += c.Infectious
		}
	}
}

// String encodes the picture as varints in base64. Each square with travellers has three numbers: its
// distance in squares from the previous square with travellers, its travellers, and its infectious
// travellers. The first distance is that from square 0.
func (p *Picture) String() string {
	var b []byte
	last := 0
	for i, n := range p.Travellers {
		if n == 0 {
			continue
		}
		b = binary.AppendUvarint(b, uint64(i-last))
		b = binary.AppendUvarint(b, uint64(n))
		b = binary.AppendUvarint(b, uint64(p.Infectious[i]))
		last = i
	}
	return base64.StdEncoding.EncodeToString(b)
}

// Add adds an encoded picture. If a part of the text cannot be decoded, Add adds at most the squares before
// this part.
func (p *Picture) Add(text string) {
	for s := range Squares(text) {
		p.Travellers[s.Number] += s.Travellers
		p.Infectious[s.Number] += s.Infectious
	}
}

// Square has the counts of one square of a picture.
type Square struct {
	Number                 int // index of the square in a Picture
	Travellers, Infectious uint32
}

// Squares decodes an encoded picture, and yields its squares with travellers. If a part of the text cannot be
// decoded, Squares yields at most the squares before this part.
func Squares(text string) iter.Seq[Square] {
	return func(yield func(Square) bool) {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return
		}
		var v [3]uint64 // the distance, the travellers, and the infectious travellers
		for at := uint64(0); ; {
			for i := range v {
				var n int
				if v[i], n = binary.Uvarint(b); n <= 0 {
					return
				}
				b = b[n:]
			}
			if at += v[0]; at >= SquaresAcross*SquaresDown || v[0] > at {
				return
			}
			if !yield(Square{int(at), uint32(v[1]), uint32(v[2])}) {
				return
			}
		}
	}
}

// SquareAt returns the number of the square at a position in degrees, from -90 to 90 north and from -180 to
// 180 east.
func SquareAt(lat, lon float64) int {
	x := min(int((lon+180)*2), SquaresAcross-1)
	y := min(int((90-lat)*2), SquaresDown-1)
	return y*SquaresAcross + x
}

// Centre returns the centre of a square, in degrees, north and east positive.
func Centre(square int) (lat, lon float64) {
	return 89.75 - float64(square/SquaresAcross)/2, float64(square%SquaresAcross)/2 - 179.75
}
