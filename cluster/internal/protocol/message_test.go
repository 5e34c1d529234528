package protocol

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"
)

func exampleTick() *message {
	return &message{kind: kindTick, region: 1, epoch: 3, tick: 7, owner: 9, before: Hash{1}, code: Hash{2},
		cut: 4, state: Hash{3}, sections: [][]byte{{}, []byte("two"), bytes.Repeat([]byte{5}, 300)}}
}

func exampleEpoch() *message {
	return &message{kind: kindEpoch, region: 1, epoch: 4, tick: 7, owner: 9, before: Hash{1}}
}

func TestMessages(t *testing.T) {
	for _, m := range []*message{exampleTick(), exampleEpoch()} {
		got, err := decode(m.appendTo(nil))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("encoding and decoding changes a message: got %+v, want %+v", got, m)
		}
	}
}

func TestHash(t *testing.T) {
	want := exampleTick().hash()
	for what, change := range map[string]func(m *message){
		"region":          func(m *message) { m.region++ },
		"tick":            func(m *message) { m.tick++ },
		"before":          func(m *message) { m.before[5]++ },
		"code":            func(m *message) { m.code[5]++ },
		"cut":             func(m *message) { m.cut++ },
		"state":           func(m *message) { m.state[5]++ },
		"a section":       func(m *message) { m.sections[1] = []byte("tow") },
		"section lengths": func(m *message) { m.sections[0], m.sections[1] = m.sections[1], m.sections[0] },
		"section count":   func(m *message) { m.sections = append(m.sections, nil) },
	} {
		m := exampleTick()
		if change(m); m.hash() == want {
			t.Errorf("two ticks that differ only in %s have the same hash", what)
		}
	}
	m := exampleTick()
	if m.epoch, m.owner = 8, 8; m.hash() != want {
		t.Error("the hash depends on the epoch or the owner")
	}
}

// summed appends the correct checksum to the content of a message.
func summed(content []byte) []byte {
	return binary.LittleEndian.AppendUint32(content, crc32.Checksum(content, castagnoli))
}

func TestDamagedMessages(t *testing.T) {
	for _, m := range []*message{exampleTick(), exampleEpoch()} {
		good := m.appendTo(nil)
		for i := range good {
			bad := bytes.Clone(good)
			bad[i] ^= 4
			if _, err := decode(bad); err == nil {
				t.Errorf("decode accepts a message with a wrong byte %d of %d", i, len(good))
			}
			if _, err := decode(good[:i]); err == nil {
				t.Errorf("decode accepts the first %d of %d bytes", i, len(good))
			}
			if i >= bytesHeader && i < len(good)-bytesSum {
				if _, err := decode(summed(bytes.Clone(good[:i]))); err == nil {
					t.Errorf("decode accepts the first %d of %d bytes with a checksum", i, len(good))
				}
			}
		}
	}
	atCount := bytesHeader + len(Hash{}) + 8 + len(Hash{}) // where a message has the number of sections
	for _, c := range []struct {
		want   string
		change func(b []byte)
	}{
		{"the format 2", func(b []byte) { b[4] = 2 }},
		{"the unknown kind 7", func(b []byte) { b[5] = 7 }},
		{"4294967295 sections", func(b []byte) { copy(b[atCount:], "\xff\xff\xff\xff") }},
		{"the length of section 1 is wrong", func(b []byte) {
			copy(b[atCount+5:], "\xff\xff\xff\xff\x7f")
		}},
		{"the lengths of the sections add up to", func(b []byte) { b[atCount+4]++ }},
	} {
		content := exampleTick().appendTo(nil)
		content = content[:len(content)-bytesSum]
		c.change(content)
		if _, err := decode(summed(content)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, want %q", err, c.want)
		}
	}
}

func FuzzMessage(f *testing.F) {
	f.Add(exampleTick().appendTo(nil), false)
	f.Add(exampleEpoch().appendTo(nil), false)
	b := exampleTick().appendTo(nil)
	f.Add(b[:len(b)-bytesSum], true)
	f.Fuzz(func(t *testing.T, b []byte, sum bool) {
		if sum {
			b = summed(bytes.Clone(b))
		}
		m, err := decode(b)
		if err != nil {
			return
		}
		again, err := decode(m.appendTo(nil))
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("encoding and decoding changes the message: got %+v, %v, want %+v", again, err, m)
		}
	})
}
