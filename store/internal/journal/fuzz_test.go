package journal

import (
	"encoding/binary"
	"errors"
	"testing"
)

// FuzzRead reads arbitrary bytes as two segments. If repair is true, FuzzRead first corrects the checksum,
// segment number and index of each sector that is not all zeros, so that Read reads the payloads. If Read
// finds no damage, FuzzRead checks that Resume keeps the records.
func FuzzRead(f *testing.F) {
	m, _, _ := small(f)
	f.Add(m.names[fileName(1)].data, m.names[fileName(2)].data, uint16(0), false)
	f.Add(m.names[fileName(2)].data, m.names[fileName(3)].data, uint16(5), true)
	f.Add([]byte{}, m.names[fileName(1)].data[:4*sectorSize-7], uint16(0), true)
	f.Fuzz(func(t *testing.T, first, second []byte, from uint16, repair bool) {
		m := newMemory(1)
		for i, data := range [][]byte{first, second} {
			data = append([]byte(nil), data...)
			for k := 0; repair && k+sectorSize <= len(data); k += sectorSize {
				if s := data[k : k+sectorSize]; !zeros(s) {
					binary.LittleEndian.PutUint32(s[4:], uint32(i+1))
					binary.LittleEndian.PutUint32(s[8:], uint32(k/sectorSize))
					resum(s)
				}
			}
			m.names[fileName(uint32(i+1))] = &content{data: data}
		}
		tail, err := Read(m, storeID, 1, uint64(from))
		if err != nil {
			var d *Damage
			if errors.As(err, &d) && m.names[d.File] == nil {
				t.Fatalf("the damaged file does not exist: %v", err)
			}
			return
		}
		all, err := entries(tail)
		if err != nil || tail.End != uint64(from)+uint64(len(all)) {
			t.Fatalf("%d records from %d up to %d: %v", len(all), from, tail.End, err)
		}
		j, err := tail.Resume("fuzz", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		tail, err = Read(m, storeID, 3, uint64(from))
		if err != nil {
			t.Fatal(err)
		}
		again, err := entries(tail)
		if err != nil || len(again) != len(all) {
			t.Fatalf("%d records, and %d after Resume: %v", len(all), len(again), err)
		}
	})
}
