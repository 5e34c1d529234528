package vastarrow

import (
	"encoding/binary"
	"errors"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The reader of Arrow believes the lengths in the headers of a file, which are FlatBuffers: it allocates the
// elements of a vector before it reads them. The checks of this file run before.

const (
	// mostParts is the largest number of fields, names and values of metadata in the header of a message.
	// Parts of a FlatBuffer may share their bytes, so a few bytes can describe any number of parts.
	mostParts = 1 << 17
	// mostDepth is the largest depth of lists and structs in each other.
	mostDepth = 32
)

// Positions of values in the tables of the format.
const (
	messageType, messageHeader, messageBody, messageMetadata        = 6, 8, 10, 12
	footerSchema, footerDictionaries, footerRecords, footerMetadata = 6, 8, 10, 12
	schemaFields, schemaMetadata, schemaFeatures                    = 6, 8, 10
	fieldTypeKind, fieldType, fieldChildren, fieldMetadata          = 8, 10, 14, 16
	batchNodes, batchBuffers, batchCounts                           = 6, 8, 12
	dictionaryData, unionIDs                                        = 6, 6
)

var errHeader = errors.New("a header says that it has more parts than it has bytes")

// headerCheck counts the parts of a header.
type headerCheck struct{ left int }

// checkHeaders returns an error if a header of the file is longer than its bytes. It panics, as the reader
// does, if an offset points out of the header.
func checkHeaders(data []byte, f Format) error {
	if f == ArrowStream {
		return checkStream(data)
	}
	const end = 4 + 6 // the length of the footer, and ARROW1
	if len(data) < end {
		return errHeader
	}
	n := int64(binary.LittleEndian.Uint32(data[len(data)-end:]))
	if n < 4 || n > int64(len(data)-end) {
		return errHeader
	}
	footer := root(data[int64(len(data)-end)-n : len(data)-end])
	c := headerCheck{mostParts}
	if err := c.vector(footer, footerMetadata, 4); err != nil {
		return err
	}
	if err := c.schema(footer, footerSchema); err != nil {
		return err
	}
	for _, slot := range []flatbuffers.VOffsetT{footerDictionaries, footerRecords} {
		const size = 24 // offset, length of the header, length of the body
		if err := c.vector(footer, slot, size); err != nil {
			return err
		}
		o := flatbuffers.UOffsetT(footer.Offset(slot))
		if o == 0 {
			continue
		}
		for i := range footer.VectorLen(o) {
			at := footer.Vector(o) + flatbuffers.UOffsetT(i*size)
			offset := footer.GetInt64(at)
			if offset < 0 || offset > int64(len(data)) {
				return errHeader
			}
			if _, err := checkMessage(data[offset:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkStream checks the messages of a stream.
func checkStream(data []byte) error {
	for len(data) >= 4 {
		n, err := checkMessage(data)
		if err != nil || n == 0 {
			return err
		}
		data = data[n:]
	}
	return nil
}

// checkMessage returns the size of the message at the start of data, or 0 if no message follows.
func checkMessage(data []byte) (size int64, err error) {
	if len(data) < 4 {
		return 0, errHeader
	}
	n, prefix := binary.LittleEndian.Uint32(data), 4
	if n == 1<<32-1 { // since Arrow 0.15, this number precedes the length
		if len(data) < 8 {
			return 0, errHeader
		}
		n, prefix = binary.LittleEndian.Uint32(data[4:]), 8
	}
	if n == 0 {
		return 0, nil
	}
	end := int64(prefix) + int64(n)
	if n < 4 || end > int64(len(data)) {
		return 0, errHeader
	}
	m := root(data[prefix:end])
	c := headerCheck{mostParts}
	if err := c.vector(m, messageMetadata, 4); err != nil {
		return 0, err
	}
	body := m.GetInt64Slot(messageBody, 0)
	if body < 0 || body > int64(len(data))-end {
		return 0, errHeader
	}
	switch m.GetByteSlot(messageType, 0) {
	case 1:
		err = c.schema(m, messageHeader)
	case 2:
		if t, ok := tableAt(m, messageHeader); ok {
			err = c.batch(t, dictionaryData)
		}
	case 3:
		err = c.batch(m, messageHeader)
	}
	return end + body, err
}

// root returns the table at the start of a FlatBuffer.
func root(b []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
}

// tableAt returns the table to which another table refers.
func tableAt(t flatbuffers.Table, slot flatbuffers.VOffsetT) (flatbuffers.Table, bool) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return t, false
	}
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(o + t.Pos)}, true
}

// vector checks a vector of a table, whose elements have size bytes.
func (c *headerCheck) vector(t flatbuffers.Table, slot flatbuffers.VOffsetT, size int) error {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return nil
	}
	n := t.VectorLen(o)
	if n < 0 || int64(t.Vector(o))+int64(n)*int64(size) > int64(len(t.Bytes)) {
		return errHeader
	}
	if c.left -= n; c.left < 0 {
		return errors.New("a header has too many parts")
	}
	return nil
}

func (c *headerCheck) schema(t flatbuffers.Table, slot flatbuffers.VOffsetT) error {
	schema, ok := tableAt(t, slot)
	if !ok {
		return nil
	}
	if err := c.vector(schema, schemaMetadata, 4); err != nil {
		return err
	}
	if err := c.vector(schema, schemaFeatures, 8); err != nil {
		return err
	}
	return c.fields(schema, schemaFields, 0)
}

// fields checks the fields in a vector of a table, and their children.
func (c *headerCheck) fields(t flatbuffers.Table, slot flatbuffers.VOffsetT, depth int) error {
	if err := c.vector(t, slot, 4); err != nil {
		return err
	}
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return nil
	}
	if depth > mostDepth {
		return errors.New("its schema has too many fields in each other")
	}
	for i := range t.VectorLen(o) {
		field := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(i)*4)}
		if err := c.vector(field, fieldMetadata, 4); err != nil {
			return err
		}
		const union = 14
		if typ, ok := tableAt(field, fieldType); ok && field.GetByteSlot(fieldTypeKind, 0) == union {
			if err := c.vector(typ, unionIDs, 4); err != nil {
				return err
			}
		}
		if err := c.fields(field, fieldChildren, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// batch checks the header of a record batch.
func (c *headerCheck) batch(t flatbuffers.Table, slot flatbuffers.VOffsetT) error {
	batch, ok := tableAt(t, slot)
	if !ok {
		return nil
	}
	if err := c.vector(batch, batchNodes, 16); err != nil {
		return err
	}
	if err := c.vector(batch, batchBuffers, 16); err != nil {
		return err
	}
	return c.vector(batch, batchCounts, 8)
}
