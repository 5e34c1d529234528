package places

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func load(t *testing.T, text string) *List {
	t.Helper()
	l, err := Read(strings.NewReader(text), "test", Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func pack(t *testing.T, l *List) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := l.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// seal sets the right checksum on a packed file that a test has altered.
func seal(packed []byte) []byte {
	sum := crc32.ChecksumIEEE(packed[:checksumOffset])
	sum = crc32.Update(sum, crc32.IEEETable, packed[headerBytes:])
	binary.LittleEndian.PutUint32(packed[checksumOffset:], sum)
	return packed
}

func equalLists(t *testing.T, got, want *List) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Fatalf("%d places, want %d", got.Len(), want.Len())
	}
	for i, p := range want.All() {
		if q := got.At(i); q != p {
			t.Fatalf("place %d is %+v, want %+v", i, q, p)
		}
	}
}

const threePlaces = "name,country,lat,lon,population\n" +
	"Reykjavík,IS,64.13548,-21.89541,118918\n" +
	"Suva,FJ,-18.14161,178.44149,77366\n" +
	"Quito,EC,-0.22985,-78.52495,1399814\n"

func TestListOrderIsIndependentOfTheFile(t *testing.T) {
	lines := strings.SplitAfter(threePlaces, "\n")
	want := load(t, threePlaces)
	reversed := load(t, lines[0]+lines[3]+lines[2]+lines[1])
	equalLists(t, reversed, want)
	if !bytes.Equal(pack(t, reversed), pack(t, want)) {
		t.Error("the same places in another order were packed to other bytes")
	}
	for i := 1; i < want.Len(); i++ {
		if want.key(i-1) > want.key(i) {
			t.Errorf("places %d and %d are out of order", i-1, i)
		}
	}
}

func TestEqualPositionsAreAllKept(t *testing.T) {
	l := load(t, "name,lat,lon,population\nb,1,1,1\na,1,1,9\na,1,1,2\na,1,1,2\n")
	var got []Place
	for _, p := range l.All() {
		got = append(got, p)
	}
	want := []Place{
		{"a", "", 1, 1, 2}, {"a", "", 1, 1, 2}, {"a", "", 1, 1, 9}, {"b", "", 1, 1, 1},
	}
	if len(got) != len(want) {
		t.Fatalf("%d places, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("place %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestCornersOfTheEarth(t *testing.T) {
	l := load(t, "name,lat,lon\na,90,180\nb,-90,-180\nc,90,-180\nd,-90,180\ne,0,0\n")
	again, err := Read(bytes.NewReader(pack(t, l)), "packed", Options{})
	if err != nil {
		t.Fatal(err)
	}
	equalLists(t, again, l)
	want := map[string][2]float64{"a": {90, 180}, "b": {-90, -180}, "c": {90, -180}, "d": {-90, 180},
		"e": {0, 0}}
	for i := range again.Len() {
		if w := want[again.Name(i)]; again.Lat(i) != w[0] || again.Lon(i) != w[1] {
			t.Errorf("%s is at %g, %g; want %v", again.Name(i), again.Lat(i), again.Lon(i), w)
		}
	}
}

func TestHilbertKeyAndPointAreInverse(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 20000 {
		x, y := random.Uint32N(hilbertSide), random.Uint32N(hilbertSide)
		key := hilbertKey(x, y)
		if key >= hilbertEnd {
			t.Fatalf("hilbertKey(%d, %d) = %d, past the end of the curve", x, y, key)
		}
		if gx, gy := hilbertPoint(key); gx != x || gy != y {
			t.Fatalf("hilbertPoint(hilbertKey(%d, %d)) = %d, %d", x, y, gx, gy)
		}
		if key+1 == hilbertEnd {
			continue
		}
		// A step along the curve must be a step to a neighbour.
		nx, ny := hilbertPoint(key + 1)
		if d := math.Abs(float64(nx)-float64(x)) + math.Abs(float64(ny)-float64(y)); d != 1 {
			t.Fatalf("the points of the keys %d and %d are %g units apart, want 1", key, key+1, d)
		}
	}
}

func TestNumbersOfEveryLength(t *testing.T) {
	var want []uint64
	for length := range maxNumberBits {
		want = append(want, 1<<length-1, 1<<length, 1<<length|1)
	}
	var w numberWriter
	for _, v := range want {
		w.add(v)
	}
	r := numberReader{lengths: inflate(deflate(w.lengths)), packed: w.bits(), maxBits: maxNumberBits}
	for i, v := range want {
		if got, err := r.next(); err != nil || got != v {
			t.Fatalf("number %d is %d, %v; want %d", i, got, err, v)
		}
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}
