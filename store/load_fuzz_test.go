package store_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/vastgo/vast/store"
)

// forge returns a copy of a file with changed bytes and correct checksums. Each patch has 4 bytes, and
// changes one byte of the file. The first 3 bytes of the patch are a number of 24 bits that selects this
// byte, in proportion to the length of the file after its first 16 bytes. forge adds the last byte of the
// patch to the selected byte.
func forge(file, patches []byte) []byte {
	file = bytes.Clone(file)
	for ; len(patches) >= 4; patches = patches[4:] {
		where := uint64(patches[0])<<16 | uint64(patches[1])<<8 | uint64(patches[2])
		file[16+where*uint64(len(file)-16)>>24] += patches[3]
	}
	le, table := binary.LittleEndian, crc32.MakeTable(crc32.Castagnoli)
	for at := 16; at+40 <= len(file); {
		h := file[at : at+40]
		size := le.Uint64(h[24:])
		if size > uint64(len(file)-at-40) {
			break
		}
		le.PutUint32(h[32:], crc32.Checksum(file[at+40:at+40+int(size)], table))
		le.PutUint32(h[36:], crc32.Checksum(h[:36], table))
		at += 40 + int(size)
	}
	return file
}

// FuzzLoad: for a forged file, Load returns an error or makes a world that the test can change and save.
func FuzzLoad(f *testing.F) {
	f.Add(uint8(0), []byte{})
	f.Add(uint8(1), []byte{1, 2, 3, 4, 200, 3, 4, 1})
	files := make(map[uint8][]byte)
	f.Fuzz(func(t *testing.T, seed uint8, patches []byte) {
		seed %= 4
		if files[seed] == nil {
			n := newTown(t, false)
			n.live(uint64(seed), 300)
			files[seed] = save(t, n, store.Options{})
		}
		n := makeTown(seed%2 == 1)
		defer n.w.Close()
		forged := bytes.NewReader(forge(files[seed], patches))
		if _, err := store.Load(n.w, forged, store.Options{}); err != nil {
			return
		}
		for e := range n.w.Query().All() {
			n.order = append(n.order, e)
		}
		n.dump()
		n.live(uint64(seed), 100)
		if err := store.Save(n.w, new(bytes.Buffer), store.Options{}); err != nil {
			t.Error(err)
		}
	})
}
