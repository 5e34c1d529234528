package journal

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/longtest"
)

func TestFreeSpace(t *testing.T) {
	for _, size := range []int{64, 5000, 300_000} {
		m, j := begin(t, Options{Delay: time.Hour})
		c := m.names[fileName(1)]
		batches, grown, last := min(1000, max(10, 1_000_000/size)), 0, len(c.data)
		for range batches {
			if _, err := j.Append(1, bytes.Repeat([]byte{7}, size), false); err != nil {
				t.Fatal(err)
			}
			if err := j.Flush(); err != nil {
				t.Fatal(err)
			}
			if len(c.data) != last {
				grown++
			}
			last = len(c.data)
			n := len(used(c.data))
			if last%blockSize != 0 || last > 2*n+blockSize || last > n+freeMax+blockSize {
				t.Fatalf("the file has %d bytes, and %d of them are used", last, n)
			}
		}
		if most := 6 + last/freeMax; grown > most {
			t.Errorf("%d batches of %d bytes: the file grew %d times, want at most %d", batches, size,
				grown, most)
		}
		got, tail, err := readAll(m)
		if err != nil || len(got) != batches || tail.Cuts != nil {
			t.Errorf("%d records were read, want %d; cuts %v, error %v", len(got), batches, tail.Cuts, err)
		}
		if _, _, err := j.Rotate(); err != nil {
			t.Fatal(err)
		}
		if err := j.Flush(); err != nil {
			t.Fatal(err)
		}
		if n := len(used(c.data)); len(c.data) >= n+freeMax+blockSize || len(c.data) > last+sectorSize {
			t.Errorf("an ended segment with %d used bytes has a file of %d bytes", n, len(c.data))
		}
	}
}

// free makes a journal of one segment with three records and free space.
func free(t *testing.T) (m *memory, all []entry) {
	t.Helper()
	m, j := begin(t, Options{Delay: time.Hour})
	for i := range 3 {
		e := entry{byte(i), strings.Repeat("x", 10+300*i), "test"}
		all = append(all, e)
		if _, err := j.Append(e.kind, []byte(e.data), false); err != nil {
			t.Fatal(err)
		}
		if err := j.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return m, all
}

// TestShortWrite lets a Write into the free space end at any byte. Then a power cut loses any of the written
// sectors.
func TestShortWrite(t *testing.T) {
	m, all := free(t)
	data := m.names[fileName(1)].data
	first := len(used(data)) / sectorSize
	batch := seal(appendRecord(nil, 9, bytes.Repeat([]byte{'y'}, 1200)), 1, uint32(first), 0)
	if len(batch) != 3*sectorSize || len(data) < first*sectorSize+len(batch) {
		t.Fatal("the batch does not have the size that the test needs")
	}
	step := longtest.Pick(13, 1)
	for n := 0; n < len(batch); n += step {
		for survive := range 8 {
			c := &content{data: slices.Clone(data), old: map[int][]byte{}}
			torn := c.data[first*sectorSize:]
			copy(torn, batch[:n])
			for i := range 3 {
				if survive>>i&1 == 0 {
					clear(torn[i*sectorSize : (i+1)*sectorSize])
				}
			}
			after := newMemory(1)
			after.names[fileName(1)] = c
			got, tail, err := readAll(after)
			if err != nil || !slices.Equal(got, all) || (tail.Cuts == nil) != zeros(torn[:len(batch)]) {
				t.Fatalf("%d bytes were written, sectors %03b survive: Read returns %d records, %v", n,
					survive, len(got), err)
			}
			j, err := tail.Resume("test", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if got, _, err := readAll(after); err != nil || !slices.Equal(got, all) {
				t.Fatalf("%d bytes were written, sectors %03b survive: after Resume %d records, %v", n,
					survive, len(got), err)
			}
		}
	}
}

func TestDamagedFreeSpace(t *testing.T) {
	longtest.OneGoroutine(t)
	m, all := free(t)
	c := m.names[fileName(1)]
	n := len(used(c.data))
	found, bits := 0, 0
	for bit := n * 8; bit < len(c.data)*8; bit += longtest.Pick(11, 1) {
		bits++
		c.data[bit/8] ^= 1 << (bit % 8)
		got, _, err := readAll(m)
		c.data[bit/8] ^= 1 << (bit % 8)
		m.calls = nil
		if err == nil && slices.Equal(got, all) {
			continue
		}
		if err := damaged(err, fileName(1)); err != nil {
			t.Fatalf("bit %d: %v, records %q", bit, err, got)
		}
		found++
	}
	// Read ignores a bit that an incomplete write of the next batch may have left.
	if found < bits*95/100 {
		t.Errorf("the damage of %d of %d bits was found, want at least 95 %%", found, bits)
	}
	for at := sectorSize; at < n; at += sectorSize {
		before := slices.Clone(c.data)
		clear(c.data[at+100 : at+sectorSize])
		got, tail, err := readAll(m)
		c.data = before
		// The last batch has two sectors. All batches before it were synced.
		if last := at >= n-2*sectorSize; last && (err != nil || len(got) != 2 || len(tail.Cuts) != 1) ||
			!last && damaged(err, fileName(1)) != nil {
			t.Errorf("the sector at byte %d of %d lost its end: %d records, %v", at, n, len(got), err)
		}
	}
	noise := bytes.Repeat([]byte{3}, sectorSize)
	copy(c.data[len(c.data)-sectorSize:], noise)
	if _, _, err := readAll(m); damaged(err, fileName(1)) != nil {
		t.Error(err)
	}
}
