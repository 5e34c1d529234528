package places

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func zip(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func geoNamesRow(name, lat, lon, country, population string) string {
	return "1\t" + name + "\t" + name + "\tother,names\t" + lat + "\t" + lon + "\tP\tPPL\t" + country +
		"\t\t\t\t\t\t" + population + "\t\t5\tEurope/Paris\t2020-01-01\n"
}

func TestEmbedded(t *testing.T) {
	var done, total int
	l, err := Embedded(Options{Progress: func(d, n int) {
		if d <= done {
			t.Errorf("progress went from %d to %d", done, d)
		}
		done, total = d, n
	}})
	if err != nil {
		t.Fatal(err)
	}
	if done != len(embedded) || total != len(embedded) {
		t.Errorf("the last progress was %d of %d bytes, want all %d", done, total, len(embedded))
	}
	if l.Len() != 199568 {
		t.Errorf("%d places, want 199568", l.Len())
	}
	known := map[Place]bool{
		{"Soldeu", "AD", 42.57688, 1.66769, 602}:               false,
		{"Sant Julià de Lòria", "AD", 42.46372, 1.49129, 8022}: false,
		{"Shanghai", "CN", 31.22222, 121.45806, 22315474}:      false,
		{"McMurdo Station", "AQ", -77.84632, 166.66824, 1258}:  false,
		{"Longyearbyen", "SJ", 78.22334, 15.64689, 2368}:       false,
		{"Ushuaia", "AR", -54.81084, -68.31591, 56825}:         false,
	}
	countries := map[string]bool{}
	unknown := 0
	for _, p := range l.All() {
		if _, ok := known[p]; ok {
			known[p] = true
		}
		countries[p.Country] = true
		if p.Population == 0 {
			unknown++
		}
	}
	for p, found := range known {
		if !found {
			t.Errorf("%+v is missing", p)
		}
	}
	if len(countries) != 246 || unknown != 30538 {
		t.Errorf("%d countries and %d places of unknown population, want 246 and 30538", len(countries),
			unknown)
	}
}

func TestEmbeddedIsSmall(t *testing.T) {
	if n := len(embedded); n > 5<<19 {
		t.Errorf("the embedded list has %d bytes, want at most 2.5 MiB", n)
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	l, err := Embedded(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if held := int64(heap()) - int64(before); held > 12<<20 {
		t.Errorf("the list holds %d bytes of the heap, want at most 12 MiB", held)
	}
	runtime.KeepAlive(l)
}

func TestFormsAgree(t *testing.T) {
	want := load(t, threePlaces)
	packed := pack(t, want)
	rows := geoNamesRow("Reykjavík", "64.13548", "-21.89541", "IS", "118918") +
		geoNamesRow("Suva", "-18.14161", "178.44149", "FJ", "77366") +
		geoNamesRow("Quito", "-0.22985", "-78.52495", "EC", "1399814")
	for name, data := range map[string][]byte{
		"packed":         packed,
		"packed, gzip":   zip(packed),
		"GeoNames":       []byte(rows),
		"GeoNames, gzip": zip([]byte(rows)),
		"comma":          []byte(threePlaces),
		"semicolon":      []byte(strings.ReplaceAll(threePlaces, ",", ";")),
		"tab":            []byte(strings.ReplaceAll(threePlaces, ",", "\t")),
		"CRLF and BOM":   []byte("\ufeff" + strings.ReplaceAll(threePlaces, "\n", "\r\n")),
		"comments":       []byte("# three\n\n" + strings.ReplaceAll(threePlaces, "\n", "\n  \n# and\n")),
		"no last break":  []byte(strings.TrimSuffix(threePlaces, "\n")),
		"other order": []byte("LONGITUDE,id,pop,City,ISO2,Latitude\n" +
			"-21.89541,1,118918.0,Reykjavík,IS,64.13548\n" +
			"178.44149,2,77366,\"Suva\",FJ,-18.14161\n-78.52495,3,1399814,Quito,EC,-0.22985\n"),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "places")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			var done, total int
			got, err := Open(path, Options{Progress: func(d, n int) { done, total = d, n }})
			if err != nil {
				t.Fatal(err)
			}
			equalLists(t, got, want)
			if done != len(data) || total != len(data) {
				t.Errorf("the last progress was %d of %d bytes, want all %d", done, total, len(data))
			}
		})
	}
}

func TestQuotedFields(t *testing.T) {
	l := load(t, "name,lat,lon\n\"Paris, Texas\",1,1\n\"The \"\"End\"\"\",1,2\n")
	if l.Len() != 2 || l.Name(0) != "Paris, Texas" && l.Name(1) != "Paris, Texas" ||
		l.Name(0) != `The "End"` && l.Name(1) != `The "End"` {
		t.Errorf("names are %q and %q", l.Name(0), l.Name(1))
	}
}

func wantError(t *testing.T, data []byte, want string) {
	t.Helper()
	_, err := Read(bytes.NewReader(data), "f", Options{})
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Fatalf("got %v, want an *Error", err)
	}
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %q\nwant %q", err, want)
	}
}

func TestBadText(t *testing.T) {
	const head = "name,country,lat,lon,population\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "f: holds no places"},
		{"blank", "\n\n  \n", "f:3: holds no places"},
		{"header only", head, "f:1: holds no places"},
		{"prose", "It was a dark and stormy night.\n", "f:1: not a list of places: expected"},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00", "f:1: not a list of places: expected"},
		{"UTF-16", "\xff\xfen\x00a\x00m\x00e\x00", "f:1: not a list of places: expected"},
		{"no lat", "name,lon\nA,1\n", "f:1: not a list of places: expected"},
		{"NaN", head + "A,,NaN,1,1\n", `f:2: the latitude is "NaN", not a number from -90 to 90`},
		{"infinite", head + "A,,1,1,1\nA,,1,-Inf,1\n",
			`f:3: the longitude is "-Inf", not a number from -180 to 180`},
		{"overflow", head + "A,,1e999,1,1\n", `f:2: the latitude is "1e999"`},
		{"too far north", head + "A,,90.001,1,1\n", `f:2: the latitude is "90.001"`},
		{"too far west", head + "A,,1,-180.1,1\n", `f:2: the longitude is "-180.1"`},
		{"no number", head + "A,,north,1,1\n", `f:2: the latitude is "north"`},
		{"no latitude", head + "A,,,1,1\n", `f:2: the latitude is ""`},
		{"escape in a number", head + "A,,\x1b[2J,1,1\n", `f:2: the latitude is "\x1b[2J"`},
		{"escape in a name", head + "\x1b[2J,,1,1,1\n", "f:2: the text has the control character U+001B"},
		{"no name", head + ",,1,1,1\n", "f:2: the name is missing"},
		{"long name", head + strings.Repeat("A", 401) + ",,1,1,1\n",
			"f:2: the name has 401 bytes; the most is 400"},
		{"long country", head + "A," + strings.Repeat("A", 81) + ",1,1,1\n",
			"f:2: the country has 81 bytes; the most is 80"},
		{"Latin 1", head + "Z\xfcrich,,1,1,1\n", "f:2: not text: the bytes are not UTF-8"},
		{"negative population", head + "A,,1,1,-5\n",
			`f:2: the population is "-5", not a number from 0 to 2147483647`},
		{"huge population", head + "A,,1,1,2147483648\n", `f:2: the population is "2147483648"`},
		{"NaN population", head + "A,,1,1,nan\n", `f:2: the population is "nan"`},
		{"few columns", head + "A,,1\n", "f:2: the row has 3 columns, not 5"},
		{"many columns", head + "A,,1,1,1,1\n", "f:2: the row has 6 columns, not 5"},
		{"open quote", head + "\"A,,1,1,1\n", "f:2: a quote is not closed on its line"},
		{"text after quote", head + "\"A\"B,,1,1,1\n", "f:2: text follows a closing quote"},
		{"row cut off", geoNamesRow("A", "1", "1", "FR", "1") + "2\tB\tB\t\t1",
			"f:2: the row has 5 columns, not 19"},
		{"GeoNames NaN", geoNamesRow("A", "1", "1", "FR", "1") + geoNamesRow("B", "nan", "1", "FR", "1"),
			`f:2: the latitude is "nan"`},
		{"long line", head + "A,,1,1,1\n" + strings.Repeat("x", 10<<20),
			"f:3: the line is longer than 64 KiB"},
		{"long first line", strings.Repeat("x", 10<<20), "f:1: the line is longer than 64 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantError(t, []byte(c.text), c.want)
		})
	}
}

func TestTooManyCountries(t *testing.T) {
	var b strings.Builder
	b.WriteString("name,country,lat,lon\n")
	for i := range maxCountries + 1 {
		fmt.Fprintf(&b, "A,%x,1,1\n", i)
	}
	wantError(t, []byte(b.String()), "f:65538: more than 65536 different countries")
}

func TestBadFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.txt")
	_, err := Open(missing, Options{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.File != missing || e.Line != 0 ||
		strings.Contains(e.Reason, missing) {
		t.Errorf("got %#v, want an *Error with the file only in the field File", err)
	}

	dir := t.TempDir()
	_, err = Open(dir, Options{})
	if e, ok := errors.AsType[*Error](err); !ok || e.File != dir || e.Line != 0 ||
		strings.Contains(e.Reason, dir) {
		t.Errorf("got %#v, want an *Error with the directory only in the field File", err)
	}
}

func TestReaderFails(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, data := range [][]byte{nil, []byte(threePlaces), pack(t, load(t, threePlaces))} {
		_, err := Read(io.MultiReader(bytes.NewReader(data), failing{broken}), "f", Options{})
		if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(e, broken) {
			t.Errorf("got %v, want an *Error around %v", err, broken)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestCutOffAnywhere(t *testing.T) {
	packed := pack(t, load(t, threePlaces))
	for _, whole := range [][]byte{packed, zip(packed), zip([]byte(threePlaces))} {
		for n := range whole {
			l, err := Read(bytes.NewReader(whole[:n]), "f", Options{})
			if _, ok := errors.AsType[*Error](err); !ok || l != nil {
				t.Errorf("%d of %d bytes: got %v, %v; want an *Error", n, len(whole), l, err)
			}
		}
	}
	wantError(t, packed[:headerBytes+5], fmt.Sprintf("f: cut off after %d of %d bytes", headerBytes+5,
		len(packed)))
	wantError(t, packed[:20], "f: cut off after 20 of 48 bytes")
}

func TestDamageIsNoticed(t *testing.T) {
	packed := pack(t, load(t, threePlaces))
	for i := range packed {
		for bit := range 8 {
			packed[i] ^= 1 << bit
			if _, err := Read(bytes.NewReader(packed), "f", Options{}); err == nil {
				t.Errorf("Read did not notice the flipped bit %d of byte %d", bit, i)
			}
			packed[i] ^= 1 << bit
		}
	}
	packed[len(packed)-1] ^= 1
	wantError(t, packed, "f: damaged: the checksum is ")
	packed[len(packed)-1] ^= 1
	wantError(t, append(packed, 0), "f: more data follows the ")
}

func TestWrongContentWithRightChecksum(t *testing.T) {
	put := func(offset int, v uint32) func([]byte) {
		return func(p []byte) { binary.LittleEndian.PutUint32(p[offset:], v) }
	}
	for _, c := range []struct {
		name  string
		alter func(p []byte)
		want  string
	}{
		{"version", put(8, 2), "f: packed form of version 2; this program reads version 1"},
		{"no places", put(12, 0), "f: holds no places"},
		{"most places", put(12, 1<<32-1), "f: declares 4294967295 places; the most is 4194304"},
		{"many places", put(12, 1<<22), "f: declares "},
		{"most names", put(16, 1<<32-1), "f: declares 4294967295 bytes of names for 3 places"},
		{"few names", put(16, 0), "f: declares 0 bytes of names for 3 places"},
		{"most data", put(20, 1<<32-1), "f: declares more than 256 MiB of packed data"},
		{"much data", put(28, 200<<20), "f: cut off after "},
		{"another place", put(12, 4), "f: damaged positions: unexpected EOF"},
		{"one place less", put(12, 2), "f: damaged positions: more data follows where the column should end"},
		{"longer names", put(16, 24), "f: damaged names: unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			packed := pack(t, load(t, threePlaces))
			c.alter(packed)
			wantError(t, seal(packed), c.want)
		})
	}
}

func TestPackedInvalidLists(t *testing.T) {
	for _, c := range []struct {
		name  string
		alter func(l *List)
		want  string
	}{
		{"country", func(l *List) { l.country[1] = 9 },
			"f: damaged countries: a place has the country 9, but there are only 3 countries"},
		{"longitude", func(l *List) { l.lon[2] = maxLon + 1 },
			"f: damaged positions: a position is off the Earth"},
		{"latitude", func(l *List) { l.lat[2] = maxLat + 1 },
			"f: damaged positions: a position is off the Earth"},
		{"control", func(l *List) { l.names = strings.Replace(l.names, "uit", "\x1b[m", 1) },
			"f: damaged names: the text has the control character U+001B"},
		{"no name", func(l *List) { l.names = strings.Replace(l.names, "uit", "\n\n\n", 1) },
			"f: damaged names: the name is missing"},
		{"last name", func(l *List) { l.names = l.names[:len(l.names)-1] + "x" },
			"f: damaged names: unexpected EOF"},
		{"country text", func(l *List) { l.countries[0] = "\xff" }, "f: damaged countries: not text"},
		{"country length", func(l *List) { l.countries[0] = strings.Repeat("A", 81) },
			"f: damaged countries: a country has 81 bytes; the most is 80"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := load(t, threePlaces)
			c.alter(l)
			wantError(t, pack(t, l), c.want)
		})
	}
}

func TestLargeDeclaredCountsTakeNoMemory(t *testing.T) {
	packed := pack(t, load(t, threePlaces))
	binary.LittleEndian.PutUint32(packed[12:], MaxPlaces)
	binary.LittleEndian.PutUint32(packed[16:], 8*MaxPlaces)
	for i := range sections {
		binary.LittleEndian.PutUint32(packed[20+4*i:], 40<<20)
	}
	packed = seal(packed)
	taken := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	before := taken()
	wantError(t, packed, fmt.Sprintf("f: cut off after %d of %d bytes", len(packed),
		headerBytes+sections*(40<<20)))
	if n := taken() - before; n > 1<<20 {
		t.Errorf("Read allocated %d bytes for a file of %d bytes", n, len(packed))
	}
}

func BenchmarkEmbedded(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Embedded(Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
