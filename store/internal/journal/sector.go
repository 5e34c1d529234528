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
	// sectorEnd is the last byte of a sector. A sector that a call has written in part has a zero there.
	sectorEnd = 0xff
)

// Flags of a sector.
const (
	endOfBatch   = 1 << iota // the last sector of its batch
	endOfSegment             // the end mark: the segment has a successor
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sector is a decoded sector.
type sector struct {
	synced  uint32 // number of leading sectors that were synced: the index of the first sector of its batch
	flags   byte
	payload []byte
}

// state classifies the bytes in the place of a sector.
type state int

const (
	good   state = iota
	blank        // zeros
	cut          // the last byte is zero
	bad          // none of these
	absent       // beyond the end of the file
)

// decode decodes the sector with the given index. The payload of a cut sector is the whole sector.
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

// begins reports whether b may be the result of a partial write of a sector. synced is the index of the first
// sector of its batch.
func begins(b []byte, segment, index, synced uint32) bool {
	var head [16]byte
	le := binary.LittleEndian
	copy(head[:], b[:4]) // the checksum is not compared
	le.PutUint32(head[4:], segment)
	le.PutUint32(head[8:], index)
	le.PutUint32(head[12:], synced)
	there := bytes.TrimRight(b, "\x00")
	return bytes.HasPrefix(head[:], there[:min(len(there), len(head))])
}

// zeros reports whether all bytes are zero.
func zeros(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// appendPayload appends p to a batch, and leaves room for the head of each sector.
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

// appendRecord appends a record to a batch.
func appendRecord(batch []byte, kind byte, record []byte) []byte {
	var head [binary.MaxVarintLen64 + 1]byte
	n := binary.PutUvarint(head[:], uint64(len(record)))
	head[n] = kind
	return appendPayload(appendPayload(batch, head[:n+1]), record)
}

// recordSize returns how many bytes of payload a record takes.
func recordSize(record []byte) int {
	var head [binary.MaxVarintLen64]byte
	return binary.PutUvarint(head[:], uint64(len(record))) + 1 + len(record)
}

// seal pads a batch to whole sectors and writes their heads. first is the index of the batch's first sector.
// All sectors before the batch are synced. flags are set in the last sector. A batch without payload is one
// sector.
func seal(batch []byte, segment, first uint32, flags byte) []byte {
	if len(batch) == 0 {
		batch = make([]byte, sectorHead, sectorSize)
	}
	used := payloadSize // in the last sector
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
