package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

const (
	sectorSize  = 512
	sectorHead  = 19
	payloadSize = sectorSize - sectorHead - 1
	// sectorEnd is the last byte of a complete sector. In a partly written sector, the last byte is zero.
	sectorEnd = 0xff
)

// Flags of a sector.
const (
	endOfBatch   = 1 << iota // the last sector of its batch
	endOfSegment             // the end mark: the segment has a successor
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type sector struct {
	synced  uint32 // index of the batch's first sector; all sectors before it were synced
	flags   byte
	payload []byte
}

// state tells what the bytes of a sector are.
type state int

const (
	good   state = iota
	blank        // only zeros
	cut          // partly written: the last byte is zero
	bad          // damaged
	absent       // beyond the end of the file
)

// decode decodes the sector with the given index. For a cut sector, payload is all of b.
func decode(b []byte, segment, index uint32) (sector, state) {
	le := binary.LittleEndian
	used := int(le.Uint16(b[16:]))
	switch {
	case zeros(b):
		return sector{}, blank
	case b[sectorSize-1] == 0:
		return sector{payload: b}, cut
	case le.Uint32(b) != crc32.Checksum(b[4:sectorSize], castagnoli), le.Uint32(b[4:]) != segment,
		le.Uint32(b[8:]) != index, used > payloadSize:
		return sector{}, bad
	}
	return sector{synced: le.Uint32(b[12:]), flags: b[18], payload: b[sectorHead : sectorHead+used]}, good
}

// begins reports whether b may be a partly written sector whose head has the given numbers.
func begins(b []byte, segment, index, synced uint32) bool {
	var head [16]byte
	le := binary.LittleEndian
	copy(head[:], b[:4]) // the checksum is not compared
	le.PutUint32(head[4:], segment)
	le.PutUint32(head[8:], index)
	le.PutUint32(head[12:], synced)
	written := bytes.TrimRight(b, "\x00")
	return bytes.HasPrefix(head[:], written[:min(len(written), len(head))])
}

func zeros(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// appendPayload appends p to a batch, and leaves room for the head of each sector, which seal writes.
func appendPayload(batch, p []byte) []byte {
	for len(p) > 0 {
		if len(batch)%sectorSize == 0 {
			var head [sectorHead]byte
			batch = append(batch, head[:]...)
		}
		n := min(len(p), sectorSize-1-len(batch)%sectorSize)
		batch = append(batch, p[:n]...)
		p = p[n:]
		if len(batch)%sectorSize == sectorSize-1 {
			batch = append(batch, sectorEnd)
		}
	}
	return batch
}

func appendRecord(batch []byte, kind byte, record []byte) []byte {
	var head [binary.MaxVarintLen64 + 1]byte
	n := binary.PutUvarint(head[:], uint64(len(record)))
	head[n] = kind
	return appendPayload(appendPayload(batch, head[:n+1]), record)
}

// recordSize returns the number of payload bytes that a record needs.
func recordSize(record []byte) int {
	var head [binary.MaxVarintLen64]byte
	return binary.PutUvarint(head[:], uint64(len(record))) + 1 + len(record)
}

// seal pads a batch to whole sectors and writes the heads of the sectors. An empty batch becomes one sector.
// first is the index of the batch's first sector; all earlier sectors must be synced. The flags belong to the
// last sector.
func seal(batch []byte, segment, first uint32, flags byte) []byte {
	if len(batch) == 0 {
		batch = make([]byte, sectorHead, sectorSize)
	}
	used := payloadSize // payload bytes of the last sector
	if n := len(batch) % sectorSize; n > 0 {
		used = n - sectorHead
		var padding [payloadSize]byte
		batch = append(append(batch, padding[used:]...), sectorEnd)
	}
	le := binary.LittleEndian
	for i := 0; i < len(batch); i += sectorSize {
		s := batch[i : i+sectorSize]
		le.PutUint32(s[4:], segment)
		le.PutUint32(s[8:], first+uint32(i/sectorSize))
		le.PutUint32(s[12:], first)
		le.PutUint16(s[16:], payloadSize)
		s[18] = 0
		if i+sectorSize == len(batch) {
			le.PutUint16(s[16:], uint16(used))
			s[18] = flags | endOfBatch
		}
		le.PutUint32(s, crc32.Checksum(s[4:], castagnoli))
	}
	return batch
}
