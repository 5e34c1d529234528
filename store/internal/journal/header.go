package journal

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vastgo/vast/internal/disk"
)

const (
	magic   = "vast journal\r\n"
	version = 1
	// buildMax is the largest number of bytes of a build's name in a header.
	buildMax = 4096
)

// header is the beginning of a segment's first batch: magic, version (16 bits), and the fields of header in
// their order. A varint before each string holds the length of the string. All versions of the format begin
// with the magic and the version.
type header struct {
	store           [16]byte
	first           uint64 // position of the first record
	previous        uint32 // number of the segment that this one continues, or 0
	previousSectors uint32 // number of valid sectors of the previous segment
	build           string // name of the program that writes the segment
	carriedBuild    string // name of the program that appended the carried records
}

// appendHeader appends h to an empty batch.
func appendHeader(batch []byte, h header) []byte {
	b := append([]byte(nil), magic...)
	b = binary.LittleEndian.AppendUint16(b, version)
	b = append(b, h.store[:]...)
	b = binary.LittleEndian.AppendUint64(b, h.first)
	b = binary.LittleEndian.AppendUint32(b, h.previous)
	b = binary.LittleEndian.AppendUint32(b, h.previousSectors)
	for _, s := range []string{h.build, h.carriedBuild} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return appendPayload(batch, b)
}

func fileName(segment uint32) string { return fmt.Sprintf("journal-%08d", segment) }

// Number returns the number of the segment with the given file name, or 0 for other names.
func Number(name string) uint32 {
	digits, is := strings.CutPrefix(name, "journal-")
	n, err := strconv.ParseUint(digits, 10, 32)
	if !is || err != nil || fileName(uint32(n)) != name {
		return 0
	}
	return uint32(n)
}

// segments returns the numbers of the segments whose files exist, in ascending order.
func segments(f disk.Folder) ([]uint32, error) {
	files, err := f.Files()
	if err != nil {
		return nil, fmt.Errorf("journal: listing the folder: %w", err)
	}
	var numbers []uint32
	for _, file := range files {
		if n := Number(file.Name); n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers) // Files sorts by name, so journal-100000000 comes before journal-99999999
	return numbers, nil
}

// nextSegment returns the number after the highest number of a segment in the folder.
func nextSegment(f disk.Folder) (uint32, error) {
	numbers, err := segments(f)
	if err != nil || len(numbers) == 0 {
		return 1, err
	}
	last := numbers[len(numbers)-1]
	if last == math.MaxUint32 {
		return 0, fmt.Errorf("journal: %s has the highest number that a segment can have", fileName(last))
	}
	return last + 1, nil
}
