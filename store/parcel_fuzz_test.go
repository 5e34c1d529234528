package store_test

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/vastgo/vast/store"
)

// FuzzUnpack unpacks any parcel with any schema. Either Unpack returns an error and does not change the
// world, or it succeeds and the world with the new entities can be saved, loaded, packed and changed.
func FuzzUnpack(f *testing.F) {
	for seed := range uint64(3) {
		n := makeTown(false)
		n.live(seed, 60)
		p := packer(f, n.w, store.Options{})
		parcel := pack(f, p, slices.Collect(n.w.Query().All())...)
		f.Add("", parcel[4:len(parcel)-4])
		f.Add(p.Schema()+" ", parcel[4:len(parcel)-4])
		n.w.Close()
	}
	f.Add(`{"parcel":1,"columns":[{"name":"age","form":"value","type":{"kind":"struct","size":8,`+
		`"fields":[{"name":"Days","offset":0,"type":{"kind":"int","size":8}}]}},{"name":"burden",`+
		`"form":"value","type":{"kind":"struct","size":4,"fields":[{"name":"Of","offset":0,"type":`+
		`{"kind":"entity","size":4}}]}},{"name":"diary","form":"encoded","type":{"kind":"struct",`+
		`"fields":[{"name":"Lines","offset":0,"type":{"kind":"slice","elem":{"kind":"string"}}}]}},`+
		`{"name":"roads","form":"edges","type":{"kind":"uint8","size":1}},{"name":"x","form":"tag"}]}`,
		[]byte("\x03\x02\x00\x00\x02\x05\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"+
			"\x01\x00\x00\x00\x00\x00\x00\x00\x02\x02\x01\x01\x01\x00\x00\x00"+
			"\x02\x02a\x00\x03\x00\x03\x01\x00\x02\x09"))
	f.Fuzz(func(t *testing.T, schema string, content []byte) {
		n := newTown(t, len(content)%2 == 0)
		n.live(1, 40)
		p := packer(t, n.w, store.Options{})
		if _, err := p.Accept(schema); err != nil {
			schema = p.Schema()
		}
		mark := crc32.Checksum([]byte(schema), crc32.MakeTable(crc32.Castagnoli))
		parcel := append(binary.LittleEndian.AppendUint32(nil, mark), content...)
		before := n.dump()
		roots, err := p.Unpack(seal(append(parcel, 0, 0, 0, 0)))
		if err != nil {
			if now := n.dump(); now != before {
				t.Fatalf("%v\nThe world has changed: %s", err, difference(before, now))
			}
			return
		}
		for _, e := range roots {
			if !n.w.Alive(e) {
				t.Fatalf("%v is not alive", e)
			}
		}
		load(t, newTown(t, true), save(t, n, store.Options{}), store.Options{}) // Load checks all invariants
		all := slices.Collect(n.w.Query().All())
		again := newTown(t, false)
		unpack(t, packer(t, again.w, store.Options{}), pack(t, p, all...))
		if again.w.Len() != len(all) {
			t.Fatalf("the next world has %d entities, want %d", again.w.Len(), len(all))
		}
		n.order = append(n.order, all...)
		n.live(2, 60)
		n.dump()
	})
}
