package cluster

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"reflect"
	"testing"

	"github.com/vastgo/vast"
)

// FuzzSection sends sections of any bytes to a region. It gives each parcel a correct mark and checksum, so
// that the region reads the entities in it.
func FuzzSection(f *testing.F) {
	sender := newGuild(f, 0, vast.Options{})
	sender.work = func() {
		for i := range 4 {
			e, _ := sender.member()
			sender.friends.Add(e, sender.Remote(e))
			sender.travel.Add(e, Travel{To: uint32(i / 3)})
			sender.Send(1, fmt.Appendf(nil, "message %d", i))
		}
		for range 3 {
			sender.Send(2, nil)
		}
	}
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	mark := crc32.Checksum([]byte(sender.Schema()), castagnoli)
	for _, b := range sender.step(f) {
		s, err := splitSection(b)
		if err != nil {
			f.Fatal(err)
		}
		head := b[:len(b)-len(s.parcel)]
		if len(s.parcel) > 8 {
			s.parcel = s.parcel[4 : len(s.parcel)-4]
		}
		f.Add(append(head, s.parcel...))
	}
	mine, theirs := idOf(1, 1), idOf(0, 2)
	for _, id := range []ID{0, mine, theirs, idOf(1, 2), idOf(2, 1), idOf(9, 1)} {
		// A parcel of two roots, which have only the column of IDs.
		b := []byte{0, 2, 1, 0, 2}
		b = binary.LittleEndian.AppendUint64(b, uint64(id))
		b = binary.LittleEndian.AppendUint64(b, uint64(id+1))
		f.Add(append(b, 2, 0, 2))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g := newGuild(t, 1, vast.Options{})
		e, _ := g.member()
		guest, _ := g.member()
		g.ids.Remove(guest)
		g.ids.Add(guest, theirs)
		var messages [][]byte
		g.World.o.Received = func(from int, m [][]byte) error {
			if messages = m; from != 2 {
				t.Errorf("got messages from region %d, want region 2", from)
			}
			return nil
		}
		s, err := splitSection(b)
		if err == nil && len(s.parcel) > 0 {
			parcel := append(binary.LittleEndian.AppendUint32(nil, mark), s.parcel...)
			parcel = binary.LittleEndian.AppendUint32(parcel, crc32.Checksum(parcel, castagnoli))
			b = append(b[:len(b)-len(s.parcel):len(b)-len(s.parcel)], parcel...)
		}
		if err == nil {
			again := appendMessages(nil, encodeMessages(s.messages))
			if other, err := splitSection(append(again, s.parcel...)); err != nil || len(b) > 0 &&
				!reflect.DeepEqual(s, other) {
				t.Fatalf("the section %x, encoded and decoded again, is %x: %v", s, other, err)
			}
		}
		if _, _, errTick := g.Tick(1, [][]byte{nil, nil, b}, nil); errTick != nil {
			if g.w.Len() != 2 || messages != nil {
				t.Fatalf("the region has %d entities and got %d messages after the error %v",
					g.w.Len(), len(messages), errTick)
			}
		} else if err != nil || len(messages) != len(s.messages) {
			t.Fatalf("the region got %d messages, want %d; splitSection returned %v", len(messages),
				len(s.messages), err)
		}
		g.World.ids.forget()
		g.World.ids.checkInvariants()
		g.checkFind(t, mine, e)
		g.checkFind(t, theirs, guest)
		state, err := g.Save()
		if err != nil {
			t.Fatal(err)
		}
		if err := newGuild(t, 1, vast.Options{}).Load(state); err != nil {
			t.Fatal(err)
		}
	})
}

// encodeMessages encodes messages as Send does.
func encodeMessages(messages [][]byte) (b []byte) {
	for _, m := range messages {
		b = append(binary.AppendUvarint(b, uint64(len(m))), m...)
	}
	return b
}
