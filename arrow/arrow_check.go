package vastarrow

import (
	"encoding/binary"
	"errors"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The Arrow library trusts the lengths in the headers of its files: it allocates the elements of a vector
// before it reads them. The functions below check the headers, which are FlatBuffers, before the library
// reads them.

const (
	// mostParts is the largest number of elements in all vectors of a header, such as fields and metadata.
	// The vectors of a FlatBuffer may share their bytes, so a few bytes can describe any number of elements.
	mostParts = 1 << 17
	// sharedBytes is the largest sum of the lengths of all texts in all headers, in addition to the length of
	// the file. Texts may share their bytes, too, and the library copies each text.
	sharedBytes = 1 << 20
	// mostDepth is the largest depth of nested fields.
	mostDepth = 32
)

// Positions of values in the tables of the Arrow format. The FlatBuffers library calls them slots.
const (
	messageType, messageHeader, messageBody, messageMetadata        = 6, 8, 10, 12
	footerSchema, footerDictionaries, footerRecords, footerMetadata = 6, 8, 10, 12
	schemaFields, schemaMetadata, schemaFeatures                    = 6, 8, 10
	fieldName, fieldTypeKind, fieldType                             = 4, 8, 10
	fieldChildren, fieldMetadata                                    = 14, 16
	keyValueKey, keyValueValue                                      = 4, 6
	batchNodes, batchBuffers, batchCounts                           = 6, 8, 12
	dictionaryData, unionIDs, timestampZone                         = 6, 6, 6
)

var errHeader = errors.New("a header says that it has more parts than it has bytes")

// headerCheck checks the headers of a file.
type headerCheck struct {
	parts int // how many more elements the vectors of the present header may have
	bytes int // how many more bytes the texts of all headers may have
}

// checkHeaders returns an error if a header of the file claims more elements or bytes than it can have, or
// exceeds a limit above. It panics if an offset points out of the header; decode returns the panic as an
// error.
func checkHeaders(data []byte, f Format) error {
	c := headerCheck{mostParts, len(data) + sharedBytes}
	if f == ArrowStream {
		return c.stream(data)
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
	if err := c.metadata(footer, footerMetadata); err != nil {
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
			if _, err := c.message(data[offset:]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *headerCheck) stream(data []byte) error {
	for len(data) >= 4 {
		n, err := c.message(data)
		if err != nil || n == 0 {
			return err
		}
		data = data[n:]
	}
	return nil
}

// message checks the message at the start of data and returns its size, or 0 at the end of a stream.
func (c *headerCheck) message(data []byte) (size int64, err error) {
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
	defer func(parts int) { c.parts = parts }(c.parts) // the footer continues to count its own parts
	c.parts = mostParts
	m := root(data[prefix:end])
	if err := c.metadata(m, messageMetadata); err != nil {
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

// root returns the root table of a FlatBuffer.
func root(b []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
}

// tableAt returns the table to which a slot of t refers, and whether there is one.
func tableAt(t flatbuffers.Table, slot flatbuffers.VOffsetT) (flatbuffers.Table, bool) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return t, false
	}
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(o + t.Pos)}, true
}

// elementAt returns table i of the vector at offset o of t.
func elementAt(t flatbuffers.Table, o flatbuffers.UOffsetT, i int) flatbuffers.Table {
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(i)*4)}
}

// vector checks a vector to which a slot of t refers. The elements of the vector have size bytes each.
func (c *headerCheck) vector(t flatbuffers.Table, slot flatbuffers.VOffsetT, size int) error {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return nil
	}
	n := t.VectorLen(o)
	if n < 0 || int64(t.Vector(o))+int64(n)*int64(size) > int64(len(t.Bytes)) {
		return errHeader
	}
	if c.parts -= n; c.parts < 0 {
		return errors.New("a header has too many parts")
	}
	return nil
}

// text checks a text to which a slot of t refers.
func (c *headerCheck) text(t flatbuffers.Table, slot flatbuffers.VOffsetT) error {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return nil
	}
	n := t.VectorLen(o)
	if n < 0 || int64(t.Vector(o))+int64(n) > int64(len(t.Bytes)) {
		return errHeader
	}
	if c.bytes -= n; c.bytes < 0 {
		return errors.New("the texts of the headers are longer than the file")
	}
	return nil
}

// metadata checks a vector of keys and values.
func (c *headerCheck) metadata(t flatbuffers.Table, slot flatbuffers.VOffsetT) error {
	if err := c.vector(t, slot, 4); err != nil {
		return err
	}
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return nil
	}
	for i := range t.VectorLen(o) {
		pair := elementAt(t, o, i)
		if err := c.text(pair, keyValueKey); err != nil {
			return err
		}
		if err := c.text(pair, keyValueValue); err != nil {
			return err
		}
	}
	return nil
}

func (c *headerCheck) schema(t flatbuffers.Table, slot flatbuffers.VOffsetT) error {
	schema, ok := tableAt(t, slot)
	if !ok {
		return nil
	}
	if err := c.metadata(schema, schemaMetadata); err != nil {
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
		return errors.New("its schema nests fields too deep")
	}
	for i := range t.VectorLen(o) {
		field := elementAt(t, o, i)
		if err := c.text(field, fieldName); err != nil {
			return err
		}
		if err := c.metadata(field, fieldMetadata); err != nil {
			return err
		}
		if err := c.fieldType(field); err != nil {
			return err
		}
		if err := c.fields(field, fieldChildren, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// fieldType checks those types that have a vector or a text.
func (c *headerCheck) fieldType(field flatbuffers.Table) error {
	typ, ok := tableAt(field, fieldType)
	if !ok {
		return nil
	}
	switch field.GetByteSlot(fieldTypeKind, 0) {
	case 10:
		return c.text(typ, timestampZone)
	case 14:
		return c.vector(typ, unionIDs, 4)
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
