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

// TestMessages: a message that is encoded and decoded is the same.
func TestMessages(t *testing.T) {
	for _, m := range []*message{exampleTick(), exampleEpoch()} {
		got, err := decode(m.appendTo(nil))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%+v has become %+v", m, got)
		}
	}
}

// TestHash: the hash of a tick covers all of the tick other than its owner.
func TestHash(t *testing.T) {
	want := exampleTick().hash()
	for what, change := range map[string]func(m *message){
		"region":  func(m *message) { m.region++ },
		"tick":    func(m *message) { m.tick++ },
		"before":  func(m *message) { m.before[5]++ },
		"schema":  func(m *message) { m.code[5]++ },
		"cut":     func(m *message) { m.cut++ },
		"state":   func(m *message) { m.state[5]++ },
		"content": func(m *message) { m.sections[1] = []byte("tow") },
		"lengths": func(m *message) { m.sections[0], m.sections[1] = m.sections[1], m.sections[0] },
		"number":  func(m *message) { m.sections = append(m.sections, nil) },
	} {
		m := exampleTick()
		if change(m); m.hash() == want {
			t.Errorf("another %s has the same hash", what)
		}
	}
	m := exampleTick()
	if m.epoch, m.owner = 8, 8; m.hash() != want {
		t.Error("another owner of the same tick has another hash")
	}
}

// summed returns a message with the right checksum.
func summed(content []byte) []byte {
	return binary.LittleEndian.AppendUint32(content, crc32.Checksum(content, castagnoli))
}

// TestDamagedMessages: each wrong byte and each lost end is an error, and so is a length that is not true.
func TestDamagedMessages(t *testing.T) {
	for _, m := range []*message{exampleTick(), exampleEpoch()} {
		good := m.appendTo(nil)
		for i := range good {
			bad := bytes.Clone(good)
			bad[i] ^= 4
			if _, err := decode(bad); err == nil {
				t.Errorf("byte %d of %d is wrong, and there is no error", i, len(good))
			}
			if _, err := decode(good[:i]); err == nil {
				t.Errorf("%d of %d bytes are no error", i, len(good))
			}
			if i >= bytesHeader && i < len(good)-bytesSum {
				if _, err := decode(summed(bytes.Clone(good[:i]))); err == nil {
					t.Errorf("%d of %d bytes, with a checksum, are no error", i, len(good))
				}
			}
		}
	}
	lengths := bytesHeader + len(Hash{}) + 8 + len(Hash{})
	for _, c := range []struct {
		want   string
		change func(b []byte)
	}{
		{"the format 2", func(b []byte) { b[4] = 2 }},
		{"the unknown kind 7", func(b []byte) { b[5] = 7 }},
		{"4294967295 sections", func(b []byte) { copy(b[lengths:], "\xff\xff\xff\xff") }},
		{"the length of section 1 is wrong", func(b []byte) { copy(b[lengths+5:], "\xff\xff\xff\xff\x7f") }},
		{"the sections have", func(b []byte) { b[lengths+4]++ }},
	} {
		content := exampleTick().appendTo(nil)
		content = content[:len(content)-bytesSum]
		c.change(content)
		if _, err := decode(summed(content)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, want %q", err, c.want)
		}
	}
}

// FuzzMessage: any bytes are a message that encodes to a message with the same content, or an error.
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
			t.Errorf("%+v has become %+v, %v", m, again, err)
		}
	})
}
