package vastsql

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// verb is the kind of a statement that writes.
type verb uint8

const (
	verbInsert verb = iota + 1
	verbUpdate
	verbDelete
)

func (v verb) String() string { return [...]string{"?", "INSERT", "UPDATE", "DELETE"}[v] }

// conflict says what happens to a row whose entity already has the component, the link or the edge, or whose
// name another entity has.
type conflict uint8

const (
	conflictAbort   conflict = iota // the statement fails
	conflictIgnore                  // OR IGNORE: the row is left out
	conflictReplace                 // OR REPLACE: the row replaces the old component, link, name or edge
)

// worldEdit is what a statement writes. It names columns and fields, so that another process can apply it.
type worldEdit struct {
	number     uint64 // random number that identifies the edit to the waiting statement
	verb       verb
	onConflict conflict
	columns    []columnName // the table's columns of the world, in order; empty for the table of entities
	// fields are the names of the fields that get values, in the table of these columns. In an UPDATE or
	// DELETE of edges, the first field is target, and its values are the targets of the rows' edges.
	fields []string
	// entities holds the ID of the entity of each row, or 0 for a new entity. In a table of edges, the entity
	// is the source of the row's edge.
	entities []uint64
	values   []value // row after row, one value for each field
}

// columnName names a column of a world. number is the column's ID in the world of the statement. It
// distinguishes columns with the same name.
type columnName struct {
	name   string
	number int
}

// row returns the values of a row.
func (e *worldEdit) row(i int) []value { return e.values[i*len(e.fields) : (i+1)*len(e.fields)] }

// editMagic begins each encoded edit. Its last byte is the version of the format.
const editMagic = "vastsql\x01"

// ErrNotEdit is the error of [Apply] for an input that is not the edit of an SQL statement.
var ErrNotEdit = errors.New("vastsql: the input is not the edit of an SQL statement")

var errDamagedEdit = errors.New("vastsql: the encoded edit of an SQL statement is damaged")

// encode returns an edit as bytes.
func (e *worldEdit) encode() []byte {
	b := binary.LittleEndian.AppendUint64([]byte(editMagic), e.number)
	b = append(b, byte(e.verb), byte(e.onConflict))
	b = binary.AppendUvarint(b, uint64(len(e.columns)))
	for _, c := range e.columns {
		b = binary.AppendUvarint(appendText(b, c.name), uint64(c.number))
	}
	b = binary.AppendUvarint(b, uint64(len(e.fields)))
	for _, name := range e.fields {
		b = appendText(b, name)
	}
	b = binary.AppendUvarint(b, uint64(len(e.entities)))
	for i, entity := range e.entities {
		b = binary.LittleEndian.AppendUint64(b, entity)
		for _, v := range e.row(i) {
			b = append(b, byte(v.typ))
			switch v.typ {
			case sqlite3.INTEGER, sqlite3.FLOAT:
				b = binary.LittleEndian.AppendUint64(b, v.bits)
			case sqlite3.TEXT, sqlite3.BLOB:
				b = appendText(b, v.text)
			}
		}
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// decodeEdit decodes an edit that encode returned.
func decodeEdit(b []byte) (*worldEdit, error) {
	text, ok := strings.CutPrefix(string(b), editMagic)
	if !ok {
		return nil, ErrNotEdit
	}
	d := &editDecoder{left: text}
	e := &worldEdit{number: d.word(), verb: verb(d.byte()), onConflict: conflict(d.byte())}
	if e.verb < verbInsert || e.verb > verbDelete || e.onConflict > conflictReplace {
		return nil, fmt.Errorf("%w: unknown kind of statement", errDamagedEdit)
	}
	for range d.count(2) {
		e.columns = append(e.columns, columnName{d.text(), int(min(d.uvarint(), 1<<30))})
	}
	for range d.count(1) {
		e.fields = append(e.fields, d.text())
	}
	rows := d.count(8 + len(e.fields))
	e.entities, e.values = make([]uint64, rows), make([]value, rows*len(e.fields))
	for i := range e.entities {
		e.entities[i] = d.word()
		for j := range e.row(i) {
			e.row(i)[j] = d.value()
		}
	}
	if d.failed || d.left != "" {
		return nil, errDamagedEdit
	}
	return e, nil
}

// editDecoder decodes an edit. After the end of the input, the methods return zero values.
type editDecoder struct {
	left   string // the input that is not decoded yet
	failed bool   // the input is damaged
}

func (d *editDecoder) take(n int) string {
	if n > len(d.left) {
		d.left, d.failed = "", true
		return ""
	}
	taken := d.left[:n]
	d.left = d.left[n:]
	return taken
}

func (d *editDecoder) byte() byte {
	if b := d.take(1); b != "" {
		return b[0]
	}
	return 0
}

func (d *editDecoder) word() uint64 {
	if b := d.take(8); b != "" {
		return binary.LittleEndian.Uint64([]byte(b))
	}
	return 0
}

func (d *editDecoder) uvarint() uint64 {
	n, size := binary.Uvarint([]byte(d.left[:min(len(d.left), binary.MaxVarintLen64)]))
	if size <= 0 {
		d.left, d.failed = "", true
		return 0
	}
	d.left = d.left[size:]
	return n
}

// count reads a number of elements, each of which takes at least the given number of bytes. count fails if
// the input is too short for these elements, so decodeEdit allocates little for a damaged edit.
func (d *editDecoder) count(bytes int) int {
	n := d.uvarint()
	if n > uint64(len(d.left)/bytes) {
		d.left, d.failed = "", true
		return 0
	}
	return int(n)
}

func (d *editDecoder) text() string {
	n := d.uvarint()
	if n > uint64(len(d.left)) {
		d.left, d.failed = "", true
		return ""
	}
	return d.take(int(n))
}

func (d *editDecoder) value() (v value) {
	v.typ = sqlite3.Datatype(d.byte())
	switch v.typ {
	case sqlite3.INTEGER, sqlite3.FLOAT:
		v.bits = d.word()
	case sqlite3.TEXT:
		v.text = strings.Clone(d.text()) // the world keeps the text, which must not keep the whole edit alive
	case sqlite3.BLOB:
		v.text = d.text()
	case sqlite3.NULL:
	default:
		d.failed = true
	}
	return v
}
