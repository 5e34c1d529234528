package protocol

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Hash is the hash of a history or a state, or identifies a version of the program.
type Hash [sha256.Size]byte

// String returns the first six bytes in hexadecimal.
func (h Hash) String() string { return fmt.Sprintf("%x", h[:6]) }

// ID identifies a message. An ID is the SHA-256 of the bytes of the message.
type ID [sha256.Size]byte

// IDOf returns the ID of a message.
func IDOf(m []byte) ID { return sha256.Sum256(m) }

type kind uint8

const (
	kindTick  kind = 1 // a tick of the region
	kindEpoch kind = 2 // the record that begins an epoch
)

type message struct {
	kind   kind
	region uint32
	epoch  uint64
	tick   uint64 // in an epoch record: the last tick before the record
	owner  uint64 // number of the owner
	before Hash   // hash of the previous tick; in an epoch record: hash of the last tick before the record

	// The following fields are only in messages of ticks.
	code     Hash     // identifies the version of the program that ran the tick
	cut      uint64   // number of the last input that this tick or an earlier tick has read
	state    Hash     // hash of the state after the tick, or zero if the machine did not compute it
	sections [][]byte // sections by receiver
}

var (
	magic      = [4]byte{'V', 'O', 'U', 'T'}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

const (
	version     = 1
	bytesHeader = len(magic) + 2 + 4 + 8 + 8 + 8 + sha256.Size
	bytesSum    = 4
)

// appendTo appends the encoded message to b: a header, the content if the message is a tick, and a checksum.
// The lengths of the sections are varints. All other numbers are little-endian.
func (m *message) appendTo(b []byte) []byte {
	le, begin := binary.LittleEndian, len(b)
	b = append(b, magic[:]...)
	b = append(b, version, byte(m.kind))
	b = le.AppendUint32(b, m.region)
	b = le.AppendUint64(b, m.epoch)
	b = le.AppendUint64(b, m.tick)
	b = le.AppendUint64(b, m.owner)
	b = append(b, m.before[:]...)
	if m.kind == kindTick {
		b = append(b, m.code[:]...)
		b = le.AppendUint64(b, m.cut)
		b = append(b, m.state[:]...)
		b = le.AppendUint32(b, uint32(len(m.sections)))
		for _, s := range m.sections {
			b = binary.AppendUvarint(b, uint64(len(s)))
		}
		for _, s := range m.sections {
			b = append(b, s...)
		}
	}
	return le.AppendUint32(b, crc32.Checksum(b[begin:], castagnoli))
}

// decode decodes a message. The sections of the message are slices of b.
func decode(b []byte) (*message, error) {
	if len(b) < bytesHeader+bytesSum {
		return nil, fmt.Errorf("the message has %d bytes, want at least %d", len(b), bytesHeader+bytesSum)
	}
	le := binary.LittleEndian
	summed, sum := b[:len(b)-bytesSum], le.Uint32(b[len(b)-bytesSum:])
	switch {
	case [4]byte(summed) != magic:
		return nil, errors.New("the message does not begin with VOUT, so it does not belong to an outbox")
	case summed[4] != version:
		return nil, fmt.Errorf("the message has the format %d, and this program knows the format %d: "+
			"use a newer program", summed[4], version)
	case crc32.Checksum(summed, castagnoli) != sum:
		return nil, errors.New("the message is damaged: its checksum is wrong")
	}
	m := &message{kind: kind(summed[5]), region: le.Uint32(summed[6:]), epoch: le.Uint64(summed[10:]),
		tick: le.Uint64(summed[18:]), owner: le.Uint64(summed[26:]), before: Hash(summed[34:])}
	rest := summed[bytesHeader:]
	switch m.kind {
	case kindEpoch:
		if len(rest) != 0 {
			return nil, fmt.Errorf("the epoch record has %d bytes after its header, want 0", len(rest))
		}
		return m, nil
	case kindTick:
		return m, m.decodeTick(rest)
	}
	return nil, fmt.Errorf("the message has the unknown kind %d", m.kind)
}

// TickOf returns the tick of an encoded message. ok is false if the message does not belong to a tick. TickOf
// does not check the checksum and the content.
func TickOf(b []byte) (tick uint64, ok bool) {
	if len(b) < bytesHeader || [4]byte(b) != magic || b[4] != version || kind(b[5]) != kindTick {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[18:]), true
}

// decodeTick decodes b, the content of a tick after the header.
func (m *message) decodeTick(b []byte) error {
	const fixed = sha256.Size + 8 + sha256.Size + 4
	if len(b) < fixed {
		return fmt.Errorf("the tick has %d bytes after its header, want at least %d", len(b), fixed)
	}
	le := binary.LittleEndian
	m.code, b = Hash(b), b[sha256.Size:]
	m.cut, b = le.Uint64(b), b[8:]
	m.state, b = Hash(b), b[sha256.Size:]
	n := le.Uint32(b)
	b = b[4:]
	if uint64(n) > uint64(len(b)) { // each length takes at least one byte
		return fmt.Errorf("the tick has %d sections in %d bytes", n, len(b))
	}
	lengths := make([]uint64, n)
	sum := uint64(0)
	for i := range lengths {
		var k int
		if lengths[i], k = binary.Uvarint(b); k <= 0 || lengths[i] > uint64(len(b)) {
			return fmt.Errorf("the length of section %d is wrong", i)
		}
		b = b[k:]
		sum += lengths[i]
	}
	if sum != uint64(len(b)) {
		return fmt.Errorf("the lengths of the sections add up to %d, and the message has %d bytes of "+
			"sections", sum, len(b))
	}
	m.sections = make([][]byte, n)
	for i, length := range lengths {
		m.sections[i], b = b[:length:length], b[length:]
	}
	return nil
}

// hash returns the hash of the region's history up to this tick. The hash does not cover the epoch and the
// owner, because another owner that runs the tick again makes the same history.
func (m *message) hash() Hash {
	h := sha256.New()
	le := binary.LittleEndian
	b := le.AppendUint32(nil, m.region)
	b = le.AppendUint64(b, m.tick)
	b = append(b, m.before[:]...)
	b = append(b, m.code[:]...)
	b = le.AppendUint64(b, m.cut)
	b = append(b, m.state[:]...)
	b = le.AppendUint32(b, uint32(len(m.sections)))
	for _, s := range m.sections {
		b = le.AppendUint64(b, uint64(len(s)))
	}
	h.Write(b)
	for _, s := range m.sections {
		h.Write(s)
	}
	return Hash(h.Sum(nil))
}
