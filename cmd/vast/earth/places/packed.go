package places

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A packed file is a header of headerBytes bytes and six sections. All integers of the header are
// little-endian and have 32 bits.
//
//	offset  what
//	     0  magic
//	     8  version
//	    12  number of places
//	    16  number of bytes of all names, each with the '\n' that ends it
//	    20  number of bytes of each section, six integers
//	    44  CRC-32 (IEEE) of the bytes 0 to 43 and of all sections
//
//	section         what                                              form
//	gapLengths      first part of the column of gaps (numbers.go)     bytes, deflated
//	gapBits         second part of the column of gaps                 bits
//	peopleLengths   first part of the column of populations           bytes, deflated
//	peopleBits      second part of the column of populations          bits
//	countries       number of countries; length and bytes of each     uvarints and text, deflated
//	                country; for each place the index of its country
//	names           each name followed by '\n'                        text, deflated
//
// The gap of a place is its distance along the Hilbert curve from the previous place. The sum of the gaps up
// to a place encodes both of its coordinates. One column of small gaps replaces two columns of signed
// differences of coordinates.
const (
	magic          = "VASTPLC\n"
	version        = 1
	headerBytes    = 48
	checksumOffset = 44
)

const (
	gapLengths = iota
	gapBits
	peopleLengths
	peopleBits
	countries
	names
	sections
)

const (
	// maxPackedBytes bounds the bytes that are read before the checksum is compared. It is about six times
	// the size of MaxPlaces places like the embedded ones.
	maxPackedBytes = 256 << 20

	// maxExpansion is above 1032, the largest factor by which DEFLATE expands its input. decodeHeader
	// rejects a declared count that needs a larger factor, before memory is allocated for the count.
	maxExpansion = 1040
)

var (
	errTrailing = errors.New("more data follows where the column should end")
	errOffMap   = errors.New("a position is off the Earth")
)

// Write writes the list as a packed file. The same list gives the same bytes with the same Go release.
// Another Go release may compress differently.
func (l *List) Write(w io.Writer) error {
	var gaps, people numberWriter
	var before uint64
	table := binary.AppendUvarint(nil, uint64(len(l.countries)))
	for _, c := range l.countries {
		table = binary.AppendUvarint(table, uint64(len(c)))
		table = append(table, c...)
	}
	for i := range l.Len() {
		key := l.key(i)
		gaps.add(key - before)
		before = key
		people.add(uint64(l.population[i]))
		table = binary.AppendUvarint(table, uint64(l.country[i]))
	}

	parts := [sections][]byte{
		gapLengths:    deflate(gaps.lengths),
		gapBits:       gaps.bits(),
		peopleLengths: deflate(people.lengths),
		peopleBits:    people.bits(),
		countries:     deflate(table),
		names:         deflate([]byte(l.names)),
	}
	header := []byte(magic)
	header = binary.LittleEndian.AppendUint32(header, version)
	header = binary.LittleEndian.AppendUint32(header, uint32(l.Len()))
	header = binary.LittleEndian.AppendUint32(header, uint32(len(l.names)))
	for _, p := range parts {
		header = binary.LittleEndian.AppendUint32(header, uint32(len(p)))
	}
	sum := crc32.ChecksumIEEE(header)
	for _, p := range parts {
		sum = crc32.Update(sum, crc32.IEEETable, p)
	}
	header = binary.LittleEndian.AppendUint32(header, sum)

	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

func deflate(data []byte) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		panic(err) // only an unknown level is an error
	}
	// Writes to a bytes.Buffer do not fail.
	w.Write(data)
	w.Close()
	return out.Bytes()
}

type header struct {
	places    int
	nameBytes int
	section   [sections]int // number of bytes of each section
	payload   int           // number of bytes of all sections
	checksum  uint32
}

// decodeHeader decodes a header, and checks its version and counts. head must have headerBytes bytes and
// begin with magic.
func decodeHeader(head []byte) (header, error) {
	word := func(offset int) int { return int(binary.LittleEndian.Uint32(head[offset:])) }
	var h header
	if v := word(8); v != version {
		return h, fmt.Errorf("packed form of version %d; this program reads version %d: pack the list again",
			v, version)
	}
	h.places, h.nameBytes = word(12), word(16)
	for i := range h.section {
		h.section[i] = word(20 + 4*i)
		// The sum could overflow an int of 32 bits, so the comparison comes first.
		if h.section[i] < 0 || h.section[i] > maxPackedBytes-h.payload {
			return h, fmt.Errorf("declares more than %d MiB of packed data", maxPackedBytes>>20)
		}
		h.payload += h.section[i]
	}
	h.checksum = binary.LittleEndian.Uint32(head[checksumOffset:])

	// Before compression, each place has one byte in gapLengths, one byte in peopleLengths, at least one
	// byte in countries, and at least two bytes in names.
	fits := func(bytes, section int) bool { return int64(bytes) <= maxExpansion*int64(h.section[section]) }
	switch {
	case h.places == 0:
		return h, errEmpty
	case h.places < 0 || h.places > MaxPlaces:
		return h, fmt.Errorf("declares %d places; the most is %d", uint32(h.places), MaxPlaces)
	case h.nameBytes < 2*h.places || h.nameBytes > (maxNameBytes+1)*h.places:
		return h, fmt.Errorf("declares %d bytes of names for %d places", uint32(h.nameBytes), h.places)
	case !fits(h.places, gapLengths), !fits(h.places, peopleLengths), !fits(h.places, countries),
		!fits(h.nameBytes, names):
		return h, fmt.Errorf("declares %d places, more than its %d bytes can hold", h.places, h.payload)
	}
	return h, nil
}

// readPacked reads a packed file. It compares the checksum of all sections before it decodes a section.
func readPacked(r io.Reader, o Options, done func() int, total int) (*List, error) {
	head := make([]byte, headerBytes)
	if n, err := io.ReadFull(r, head); err != nil {
		return nil, cutOff(err, n, headerBytes)
	}
	h, err := decodeHeader(head)
	if err != nil {
		return nil, err
	}
	// The buffer grows with the bytes that arrive, because the declared length may be wrong.
	payload, err := io.ReadAll(io.LimitReader(r, int64(h.payload)))
	if err != nil {
		return nil, cutOff(err, headerBytes+len(payload), headerBytes+h.payload)
	}
	if len(payload) < h.payload {
		return nil, cutOff(io.ErrUnexpectedEOF, headerBytes+len(payload), headerBytes+h.payload)
	}
	var extra [1]byte
	switch n, err := io.ReadFull(r, extra[:]); {
	case n > 0:
		return nil, fmt.Errorf("more data follows the %d bytes of the packed list", headerBytes+h.payload)
	case err != io.EOF: // such as a wrong checksum of gzip
		return nil, err
	}
	l, err := decodePacked(h, head, payload, Options{})
	if err == nil {
		o.report(done(), total)
	}
	return l, err
}

func cutOff(err error, have, want int) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("cut off after %d of %d bytes", have, want)
	}
	return err
}

// decodePacked decodes the sections of a packed file. It reports progress after each column.
func decodePacked(h header, head, payload []byte, o Options) (*List, error) {
	sum := crc32.ChecksumIEEE(head[:checksumOffset])
	if sum = crc32.Update(sum, crc32.IEEETable, payload); sum != h.checksum {
		return nil, fmt.Errorf("damaged: the checksum is %08x, not %08x", sum, h.checksum)
	}
	var parts [sections][]byte
	rest := payload
	for i, n := range h.section {
		parts[i], rest = rest[:n], rest[n:]
	}
	l := &List{
		lat:        make([]int32, h.places),
		lon:        make([]int32, h.places),
		population: make([]int32, h.places),
		country:    make([]uint16, h.places),
		nameEnd:    make([]uint32, h.places),
	}
	done := headerBytes
	for _, column := range []struct {
		what   string
		bytes  int
		decode func() error
	}{
		{"positions", len(parts[gapLengths]) + len(parts[gapBits]),
			func() error { return l.decodePositions(parts[gapLengths], parts[gapBits]) }},
		{"populations", len(parts[peopleLengths]) + len(parts[peopleBits]),
			func() error { return l.decodePopulations(parts[peopleLengths], parts[peopleBits]) }},
		{"countries", len(parts[countries]), func() error { return l.decodeCountries(parts[countries]) }},
		{"names", len(parts[names]), func() error { return l.decodeNames(parts[names], h.nameBytes) }},
	} {
		if err := column.decode(); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF // the column ends too early
			}
			return nil, fmt.Errorf("damaged %s: %w", column.what, err)
		}
		done += column.bytes
		o.report(done, headerBytes+len(payload))
	}
	return l, nil
}

func inflate(section []byte) *bufio.Reader {
	return bufio.NewReader(flate.NewReader(bytes.NewReader(section)))
}

func atEnd(r io.ByteReader) error {
	switch _, err := r.ReadByte(); err {
	case io.EOF:
		return nil
	case nil:
		return errTrailing
	default:
		return err
	}
}

func (l *List) decodePositions(lengths, packed []byte) error {
	gaps := numberReader{lengths: inflate(lengths), packed: packed, maxBits: 2 * hilbertBits}
	var key uint64
	for i := range l.lat {
		gap, err := gaps.next()
		if err != nil {
			return err
		}
		// The key and the gap are below 1<<52, so the sum does not overflow.
		if key += gap; key >= hilbertEnd {
			return errOffMap
		}
		x, y := hilbertPoint(key)
		if x > 2*maxLon || y > 2*maxLat {
			return errOffMap
		}
		l.lon[i], l.lat[i] = int32(x)-maxLon, int32(y)-maxLat
	}
	return gaps.end()
}

func (l *List) decodePopulations(lengths, packed []byte) error {
	people := numberReader{lengths: inflate(lengths), packed: packed, maxBits: 31}
	for i := range l.population {
		p, err := people.next()
		if err != nil {
			return err
		}
		l.population[i] = int32(p)
	}
	return people.end()
}

func (l *List) decodeCountries(section []byte) error {
	r := inflate(section)
	count, err := binary.ReadUvarint(r)
	if err != nil {
		return err
	}
	if count > maxCountries || count > uint64(l.Len()) {
		return fmt.Errorf("the table has %d countries; the most is %d", count, min(maxCountries, l.Len()))
	}
	l.countries = make([]string, count)
	var text [maxCountryBytes]byte
	for i := range l.countries {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		if n > maxCountryBytes {
			return fmt.Errorf("a country has %d bytes; the most is %d", n, maxCountryBytes)
		}
		if _, err := io.ReadFull(r, text[:n]); err != nil {
			return err
		}
		l.countries[i] = string(text[:n])
		if err := checkText(l.countries[i]); err != nil {
			return err
		}
	}
	for i := range l.country {
		index, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		if index >= count {
			return fmt.Errorf("a place has the country %d, but there are only %d countries", index, count)
		}
		l.country[i] = uint16(index)
	}
	return atEnd(r)
}

// decodeNames keeps all names in one string, and stores the offset of the end of each name.
func (l *List) decodeNames(section []byte, nameBytes int) error {
	r := inflate(section)
	var text strings.Builder
	text.Grow(nameBytes)
	if _, err := io.CopyN(&text, r, int64(nameBytes)); err != nil {
		return err
	}
	if err := atEnd(r); err != nil {
		return err
	}
	l.names = text.String()
	start := 0
	for i := range l.nameEnd {
		n := strings.IndexByte(l.names[start:], '\n')
		if n < 0 {
			return io.ErrUnexpectedEOF
		}
		l.nameEnd[i] = uint32(start + n)
		if err := checkName(l.names[start : start+n]); err != nil {
			return err
		}
		start += n + 1
	}
	if start != len(l.names) {
		return errTrailing
	}
	return nil
}

func checkName(s string) error {
	switch {
	case s == "":
		return errors.New("the name is missing")
	case len(s) > maxNameBytes:
		return fmt.Errorf("the name has %d bytes; the most is %d", len(s), maxNameBytes)
	}
	return checkText(s)
}

// checkText returns an error for text that is not UTF-8, and for text with control characters. A terminal
// would execute control characters, and '\n' ends a name in a packed file.
func checkText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("not text: the bytes are not UTF-8")
	}
	for _, c := range s {
		if unicode.IsControl(c) {
			return fmt.Errorf("the text has the control character %U", c)
		}
	}
	return nil
}
