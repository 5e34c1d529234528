package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/longtest"
)

// small makes a journal of three segments, in files without free space. Build "one" writes segments 1 and 2,
// and build "two" writes segment 3. The list all has the records of the journal. The map ends describes the
// batches of segment 3: the key is the number of sectors of the segment up to the end of a batch, and the
// value is the number of records of the journal up to that end.
func small(t testing.TB) (m *memory, all []entry, ends map[int]int) {
	t.Helper()
	m = newMemory(1)
	ends = map[int]int{}
	j, err := Create(m, storeID, "one", Options{Delay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	build := "one"
	add := func(sizes ...int) {
		for _, size := range sizes {
			e := entry{byte(len(all)), strings.Repeat(string(rune('a'+len(all))), size), build}
			if _, err := j.Append(e.kind, []byte(e.data), false); err != nil {
				t.Fatal(err)
			}
			all = append(all, e)
		}
		if err := j.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	add(10, 0, 20)
	add(600)
	if _, _, err := j.Rotate(); err != nil {
		t.Fatal(err)
	}
	add(5)
	add(30, 40)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	tail, err := Read(m, storeID, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	build = "two"
	if j, err = tail.Resume(build, Options{Delay: time.Hour}); err != nil {
		t.Fatal(err)
	}
	sectors := func() int { return len(used(m.names[fileName(3)].data)) / sectorSize }
	ends[sectors()] = len(all)
	for _, sizes := range [][]int{{7, 0}, {500, 3}, {1}} {
		add(sizes...)
		ends[sectors()] = len(all)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range m.names {
		c.data = used(c.data)
		c.state = c.state[:len(c.data)/sectorSize]
	}
	return m, all, ends
}

// used returns a segment without its free space.
func used(data []byte) []byte {
	for len(data) >= sectorSize && zeros(data[len(data)-sectorSize:]) {
		data = data[:len(data)-sectorSize]
	}
	return data
}

func readAll(m *memory) ([]entry, *Tail, error) {
	tail, err := Read(m, storeID, 1, 0)
	if err != nil {
		return nil, nil, err
	}
	all, err := entries(tail)
	return all, tail, err
}

func fails(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

// damaged returns nil if err is a *Damage of one of the files, and an error otherwise.
func damaged(err error, files ...string) error {
	var d *Damage
	if !errors.As(err, &d) {
		return fmt.Errorf("no *Damage: %v", err)
	}
	if !slices.Contains(files, d.File) || !strings.Contains(err.Error(), d.File) {
		return fmt.Errorf("%w\nwant damage of one of %q", err, files)
	}
	return nil
}

func TestSmallJournal(t *testing.T) {
	m, all, ends := small(t)
	got, tail, err := readAll(m)
	if err != nil || !slices.Equal(got, all) {
		t.Fatalf("read %q, %v; want %q", got, err, all)
	}
	end := len(all)
	if tail.Segment != 3 || ends[int(tail.Sectors)] != end || int(tail.End) != end || tail.Cuts != nil {
		t.Errorf("the tail is %+v", tail)
	}
	// Segment 3 begins with the records of the last batch of segment 2.
	want := header{storeID, 5, 2, 2, "two", "one"}
	if h := tail.parts[2].header; h != want {
		t.Errorf("segment 3 begins with %+v, want %+v", h, want)
	}
	var segments []uint32
	for r := range tail.Records() {
		segments = append(segments, r.Segment)
	}
	if want := []uint32{1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3}; !slices.Equal(segments, want) {
		t.Errorf("the records are in segments %d, want %d", segments, want)
	}
	for from := range uint64(len(all)) + 1 {
		tail, err := Read(m, storeID, 1, from)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := entries(tail); err != nil || !slices.Equal(got, all[from:]) {
			t.Fatalf("from %d: %q, %v", from, got, err)
		}
		for range tail.Records() {
			break
		}
	}
	if _, err := Read(m, storeID, 1, uint64(len(all))+1); damaged(err, fileName(3)) != nil {
		t.Error(err)
	}
}

func TestFormatOfVersion1(t *testing.T) {
	m, _, _ := small(t)
	want := []byte("....\x03\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x82\x00" +
		"\x01" +
		"vast journal\r\n" + "\x01\x00" + string(storeID[:]) + "\x05\x00\x00\x00\x00\x00\x00\x00" +
		"\x02\x00\x00\x00" + "\x02\x00\x00\x00" + "\x03two" + "\x03one" +
		"\x1e\x05" + strings.Repeat("f", 30) + "\x28\x06" + strings.Repeat("g", 40))
	data := m.names[fileName(3)].data
	copy(want, data[:4])
	if got := data[:len(want)]; !bytes.Equal(got, want) {
		t.Errorf("segment 3 begins with\n%q, want\n%q", got, want)
	}
	for n, want := range []uint32{0x12156f71, 0xe0eb87b6, 0x6addd79e} {
		if got := crc32.ChecksumIEEE(m.names[fileName(uint32(n+1))].data); got != want {
			t.Errorf("segment %d has checksum %#x, want %#x", n+1, got, want)
		}
	}
}

func TestEachBit(t *testing.T) {
	longtest.OneGoroutine(t)
	m, all, _ := small(t)
	found := 0
	for name, c := range m.names {
		for i := range len(c.data) * 8 {
			c.data[i/8] ^= 1 << (i % 8)
			got, _, err := readAll(m)
			c.data[i/8] ^= 1 << (i % 8)
			m.calls = nil
			if err == nil && slices.Equal(got, all) {
				continue
			}
			if err := damaged(err, name); err != nil {
				t.Fatalf("bit %d of %s: %v, records %q", i, name, err, got)
			}
			found++
		}
	}
	// Read does not find damage to the end mark of segment 1 and to the last batch of segment 2. The header
	// of the next segment says how many sectors count, and these two sectors do not count.
	bits := 0
	for _, c := range m.names {
		bits += len(c.data) * 8
	}
	if want := bits - 2*sectorSize*8; found != want {
		t.Errorf("the damage of %d of %d bits was found, want %d", found, bits, want)
	}
}

func TestEachLength(t *testing.T) {
	m, all, ends := small(t)
	first := len(m.names[fileName(1)].data)
	counted := map[string]int{fileName(1): first - sectorSize, fileName(2): 2 * sectorSize}
	for name := range m.names {
		whole := m.names[name].data
		for size := range len(whole) {
			m.names[name].data = whole[:size]
			got, tail, err := readAll(m)
			m.names[name].data = whole
			m.calls = nil
			want := all
			switch {
			case name == fileName(3):
				sectors := size / sectorSize
				for sectors > 0 && ends[sectors] == 0 {
					sectors--
				}
				if want = all[:ends[sectors]]; sectors == 0 {
					want = all[:7] // the records up to the end of segment 2
				}
				if err == nil && size > sectors*sectorSize &&
					!slices.Equal(tail.Cuts, []Cut{{name, int64(sectors) * sectorSize,
						int64(size - sectors*sectorSize)}}) {
					t.Fatalf("%s of %d bytes: cuts %v", name, size, tail.Cuts)
				}
			case size < counted[name]:
				if err := damaged(err, name); err != nil {
					t.Fatalf("%s of %d bytes: %v", name, size, err)
				}
				continue
			}
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s of %d bytes: %q, %v; want %q", name, size, got, err, want)
			}
		}
	}
}

func TestEachSector(t *testing.T) {
	m, all, _ := small(t)
	for name := range m.names {
		c := m.names[name]
		for i := 0; i < len(c.data); i += sectorSize {
			before := slices.Clone(c.data)
			clear(c.data[i : i+sectorSize])
			got, tail, err := readAll(m)
			copy(c.data, before)
			last := i+sectorSize == len(c.data)
			switch {
			case last && name == fileName(3): // the last batch looks like free space
				if err != nil || !slices.Equal(got, all[:len(all)-1]) || tail.Cuts != nil {
					t.Errorf("the last batch is zeros: %q, %v", got, err)
				}
			case last: // the sector does not count
				if err != nil || !slices.Equal(got, all) {
					t.Errorf("sector %d of %s, which does not count, is zeros: %q, %v", i/sectorSize, name,
						got, err)
				}
			default:
				var d *Damage
				if !errors.As(err, &d) || d.File != name || d.Offset != int64(i) {
					t.Errorf("sector %d of %s: %v", i/sectorSize, name, err)
				}
			}
		}
	}
}

func TestLostFiles(t *testing.T) {
	m, all, _ := small(t)
	for n := uint32(1); n <= 2; n++ {
		c := m.clone()
		delete(c.names, fileName(n))
		if _, _, err := readAll(c); damaged(err, fileName(n)) != nil {
			t.Error(err)
		}
	}
	c := m.clone()
	delete(c.names, fileName(3)) // segment 2 has no end mark, so only a Read from segment 3 on sees the loss
	if got, _, err := readAll(c); err != nil || !slices.Equal(got, all[:7]) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Read(c, storeID, 3, 5); damaged(err, fileName(3)) != nil {
		t.Error(err)
	}
	delete(c.names, fileName(2)) // segment 1 has an end mark
	if _, _, err := readAll(c); damaged(err, fileName(1)) != nil {
		t.Error(err)
	}
	c.names[fileName(2)] = &content{} // a file that has lost all bytes
	if _, _, err := readAll(c); damaged(err, fileName(1)) != nil {
		t.Error(err)
	}
	c = m.clone()
	c.names[fileName(2)] = m.names[fileName(3)]
	if _, _, err := readAll(c); damaged(err, fileName(2)) != nil {
		t.Error(err)
	}
	if _, err := Read(m, [16]byte{9}, 1, 0); damaged(err, fileName(3)) != nil ||
		!fails(err, "belongs to store 01020300") {
		t.Error(err)
	}
	if _, err := Read(newMemory(1), storeID, 1, 0); damaged(err, fileName(1)) != nil {
		t.Error(err)
	}
}

func file(segment uint32, payloads ...[]byte) *content {
	c := new(content)
	for _, p := range payloads {
		c.data = append(c.data, seal(slices.Clone(p), segment, uint32(len(c.data)/sectorSize), 0)...)
	}
	return c
}

func resum(sector []byte) {
	binary.LittleEndian.PutUint32(sector, crc32.Checksum(sector[4:sectorSize], castagnoli))
}

func TestForgedFiles(t *testing.T) {
	type list = []*content
	head := func(h header) []byte { h.store = storeID; return appendHeader(nil, h) }
	none := head(header{})
	one := appendRecord(nil, 1, []byte("one"))
	long := appendRecord(nil, 1, make([]byte, 900))
	forge := func(at int, b ...byte) *content {
		c := file(1, none, one, one)
		copy(c.data[at:], b)
		resum(c.data[at/sectorSize*sectorSize:])
		return c
	}
	torn := file(1, none, one, appendRecord(nil, 1, make([]byte, 2000)))
	clear(torn.data[3*sectorSize : 4*sectorSize])
	binary.LittleEndian.PutUint32(torn.data[4*sectorSize+12:], 1)
	resum(torn.data[4*sectorSize:])
	for _, test := range []struct {
		why   string
		files list // from segment 1 on
	}{
		{"flags 0x5", list{forge(sectorSize+18, 5)}},
		{"flags 0x2", list{forge(sectorSize+18, 2)}},
		{"is not full, but is not the last of its batch", list{forge(sectorSize+18, 0)}},
		{"goes on after its end mark", list{forge(sectorSize+18, 3)}},
		{"has an end mark, and the segment that follows it is missing", list{forge(2*sectorSize+18, 3)}},
		{"2 sectors are synced, and its batch begins at sector 1", list{forge(sectorSize+12, 2)}},
		{"checksum or place is wrong", list{forge(sectorSize+16, 0xff, 0xff)}},
		{"belongs to no batch that can follow", list{torn}},
		{"goes on after the end of its batch", list{forge(sectorSize+sectorHead, 200, 1)}},
		{"and the segment has at most 489 more", list{file(1, none,
			append(appendPayload(nil, []byte{0xff, 0xff, 1}), make([]byte, 489)...))}},
		{"more than 64 bits", list{file(1, none, appendPayload(nil, slices.Repeat([]byte{255}, 99)))}},
		{"goes on after the end of its batch", list{file(1, none, appendPayload(nil, []byte{128}))}},
		{"goes on after the end of its batch", list{file(1, one)}},
		{"does not begin like a journal", list{file(1, appendPayload(nil, make([]byte, 99)))}},
		{"name of a build has 5000 bytes", list{file(1, head(header{build: strings.Repeat("b", 5000)}))}},
		{"continues 0 sectors of segment 1", list{nil, file(2, head(header{previous: 1}))}},
		{"continues 7 sectors of segment 2", list{nil,
			file(2, head(header{previous: 2, previousSectors: 7}))}},
		{"continues 7 sectors of segment 0", list{file(1, head(header{previousSectors: 7}))}},
		{"begins at record 7, and the earlier records from record 0 on are missing", list{file(1,
			head(header{first: 7}))}},
		{"positions of the records are too high", list{nil, file(2, head(header{first: 1<<64 - 1}), one)}},
		{"begins at record 3, but continues journal-00000001, which ends before record 2", list{
			file(1, none, one, one), file(2, head(header{first: 3, previous: 1, previousSectors: 3}))}},
		{"no batch of records ends there", list{file(1, none, long),
			file(2, head(header{first: 1, previous: 1, previousSectors: 2}))}},
		{"no batch of records ends there", list{forge(2*sectorSize+18, 3),
			file(2, head(header{first: 2, previous: 1, previousSectors: 3}))}},
		{"says that 4 sectors count", list{file(1, none, one, one),
			file(2, head(header{first: 2, previous: 1, previousSectors: 4}))}},
	} {
		m := newMemory(1)
		for i, c := range test.files {
			if c != nil {
				m.names[fileName(uint32(i+1))] = c
			}
		}
		_, _, err := readAll(m)
		if damaged(err, fileName(1), fileName(2)) != nil || !fails(err, test.why) {
			t.Errorf("want an error with %q, got %v", test.why, err)
		}
	}
	m := newMemory(1)
	m.names[fileName(1)] = forge(sectorHead+len(magic), 2)
	const newer = "journal-00000001 has format version 2, and this program reads version 1: use a newer"
	if _, _, err := readAll(m); !fails(err, newer) {
		t.Error(err)
	}
	m.names[fileName(1)] = forge(0)
	if got, _, err := readAll(m); err != nil || len(got) != 2 {
		t.Errorf("%q, %v", got, err)
	}
	// An error of the disk is not damage.
	for _, call := range []string{"files", "open", "read"} {
		broken := errors.New("input/output error")
		m.fail = failing(call, 1, broken)
		if _, _, err := readAll(m); !errors.Is(err, broken) || damaged(err, fileName(1)) == nil {
			t.Errorf("%s fails: %v", call, err)
		}
	}
}
