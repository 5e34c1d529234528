package vastarrow

import (
	"encoding/binary"
	"errors"
)

// thriftDepth is the largest depth of nested structs and lists that thriftSize accepts.
const thriftDepth = 32

var errThrift = errors.New("a header says that it is longer than the file")

// thriftSize returns the number of bytes of the struct at the start of b, in the compact protocol of Thrift.
// It returns an error if the struct does not end in b, nests too deep, or has a value of an unknown type. It
// also returns an error if a list claims to have more elements than b has bytes after the head of the list:
// the decoder of the Parquet library would allocate all these elements before it reads them.
func thriftSize(b []byte) (int, error) {
	s := thriftScanner{b}
	if err := s.skipStruct(0); err != nil {
		return 0, err
	}
	return len(b) - len(s.b), nil
}

// thriftScanner skips values of the compact protocol.
type thriftScanner struct{ b []byte }

func (s *thriftScanner) skip(n uint64) error {
	if n > uint64(len(s.b)) {
		return errThrift
	}
	s.b = s.b[n:]
	return nil
}

func (s *thriftScanner) byte() (byte, error) {
	if len(s.b) == 0 {
		return 0, errThrift
	}
	c := s.b[0]
	s.b = s.b[1:]
	return c, nil
}

func (s *thriftScanner) varint() (uint64, error) {
	v, n := binary.Uvarint(s.b)
	if n <= 0 {
		return 0, errThrift
	}
	s.b = s.b[n:]
	return v, nil
}

func (s *thriftScanner) skipStruct(depth int) error {
	for {
		head, err := s.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // the number of the field follows
			if _, err := s.varint(); err != nil {
				return err
			}
		}
		if head&15 > 2 { // not a bool: the head holds the value of a bool
			if err := s.skipValue(head&15, depth); err != nil {
				return err
			}
		}
	}
}

func (s *thriftScanner) skipValue(kind byte, depth int) error {
	if depth > thriftDepth {
		return errors.New("a header nests structs and lists too deep")
	}
	switch kind {
	case 1, 2, 3: // bool in a list, byte
		return s.skip(1)
	case 4, 5, 6: // integers
		_, err := s.varint()
		return err
	case 7: // double
		return s.skip(8)
	case 8: // bytes
		n, err := s.varint()
		if err != nil {
			return err
		}
		return s.skip(n)
	case 9, 10: // list, set
		head, err := s.byte()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = s.varint(); err != nil {
				return err
			}
		}
		return s.skipValues(n, head&15, depth)
	case 12: // struct
		return s.skipStruct(depth + 1)
	}
	return errors.New("a header has a value of an unknown type") // Parquet has no maps
}

func (s *thriftScanner) skipValues(n uint64, kind byte, depth int) error {
	if n > uint64(len(s.b)) {
		return errThrift
	}
	for range n {
		if err := s.skipValue(kind, depth+1); err != nil {
			return err
		}
	}
	return nil
}
