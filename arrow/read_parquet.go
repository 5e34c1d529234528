package vastarrow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// readParquet reads a Parquet file. It reads some rows of all columns, then the next rows of all columns,
// because an entity needs its value in each column.
func (m *importer) readParquet(data []byte) error {
	var file *parquet.File
	err := decode(Parquet, func() (err error) {
		if err := checkParquet(data); err != nil {
			return err
		}
		file, err = parquet.OpenFile(bytes.NewReader(data), int64(len(data)), parquet.SkipPageIndex(true),
			parquet.SkipBloomFilters(true))
		return err
	})
	if err != nil {
		return err
	}
	var columns []*parquetColumn
	err = decode(Parquet, func() error {
		columns = m.parquetColumns(file)
		return nil
	})
	if err != nil {
		return err
	}
	if n := file.NumRows(); n > int64(m.mostRows) {
		return m.tooMany()
	}
	for i, g := range file.RowGroups() {
		err := decode(Parquet, func() error {
			for _, c := range columns {
				chunk := &file.Metadata().RowGroups[i].Columns[c.leaf.Index()]
				if err := c.checkChunk(data, chunk, m.mostRows); err != nil {
					return fmt.Errorf("column %s: %w", c.cells.name, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := m.readGroup(g, columns); err != nil {
			return err
		}
	}
	return nil
}

// parquetColumn reads a column of a row group.
type parquetColumn struct {
	cells   *cells
	leaf    *parquet.Column
	logical format.LogicalTypeValue // nil if the file gives none
	most    int                     // definition level of a value that is present
	pages   parquet.Pages
	page    parquet.Page // holds the texts in next
	values  parquet.ValueReader
	buffer  [512]parquet.Value
	next    []parquet.Value // values of buffer that are not used yet
	list    []parquet.Value
}

// parquetColumns returns the columns of the file that belong to fields.
func (m *importer) parquetColumns(file *parquet.File) (columns []*parquetColumn) {
	var walk func(c *parquet.Column)
	walk = func(c *parquet.Column) {
		if !c.Leaf() {
			for _, sub := range c.Columns() {
				walk(sub)
			}
			return
		}
		name := strings.Join(c.Path(), ".")
		if path := c.Path(); len(path) > 2 && c.MaxRepetitionLevel() == 1 { // field, list, element
			name = strings.Join(path[:len(path)-2], ".")
		}
		cells := m.column(name)
		if cells == nil {
			return
		}
		p := &parquetColumn{cells: cells, leaf: c, most: c.MaxDefinitionLevel()}
		if t := c.Type().LogicalType(); t != nil {
			p.logical = t.Value
		}
		columns = append(columns, p)
	}
	walk(file.Root())
	return columns
}

func (m *importer) readGroup(g parquet.RowGroup, columns []*parquetColumn) error {
	err := decode(Parquet, func() error {
		chunks := g.ColumnChunks()
		for _, c := range columns {
			c.pages, c.values, c.next = chunks[c.leaf.Index()].Pages(), nil, nil
		}
		return nil
	})
	defer decode(Parquet, func() error {
		for _, c := range columns {
			if c.close(); c.pages != nil {
				c.pages.Close()
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for at := int64(0); at < g.NumRows(); {
		n, err := m.room()
		if err != nil {
			return err
		}
		n = int(min(int64(n), g.NumRows()-at))
		err = decode(Parquet, func() error {
			for _, c := range columns {
				if err := m.readColumn(c, n); err != nil {
					return fmt.Errorf("column %s: %w", c.cells.name, err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		m.rows += n
		at += int64(n)
	}
	return nil
}

// readColumn reads the values of n rows of a column into the next rows of the cells.
func (m *importer) readColumn(p *parquetColumn, n int) error {
	for i := range n {
		v, err := p.value()
		if err == io.EOF {
			return errors.New("it has fewer values than the file has rows")
		}
		if err != nil {
			return err
		}
		p.next = p.next[1:]
		row := m.rows + i
		if p.leaf.MaxRepetitionLevel() > 0 {
			if err := m.readList(p, v, row); err != nil {
				return err
			}
			continue
		}
		if v.DefinitionLevel() == p.most {
			m.put(p.cells, row, p.set(row, 0, v))
		}
	}
	return nil
}

// readList reads the list of a row. v is the first value of the list.
func (m *importer) readList(p *parquetColumn, v parquet.Value, row int) error {
	p.list = append(p.list[:0], v.Clone())
	for {
		v, err := p.value()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if v.RepetitionLevel() == 0 {
			break
		}
		p.next = p.next[1:]
		if len(p.list) <= p.cells.count { // a longer list does not fit anyway
			p.list = append(p.list, v.Clone())
		}
	}
	if len(p.list) == 1 && v.DefinitionLevel() < p.most {
		return nil
	}
	m.put(p.cells, row, p.setList(row))
	return nil
}

func (p *parquetColumn) setList(row int) error {
	if err := p.cells.length(len(p.list)); err != nil {
		return err
	}
	for i, v := range p.list {
		if v.DefinitionLevel() < p.most {
			return errors.New("a value of the list is null")
		}
		if err := p.set(row, i, v); err != nil {
			return err
		}
	}
	return nil
}

// value returns the next value, or io.EOF. To go on to the value after it, the caller shortens p.next.
func (p *parquetColumn) value() (parquet.Value, error) {
	for len(p.next) == 0 {
		if p.values == nil {
			p.close()
			page, err := p.pages.ReadPage()
			if err != nil {
				return parquet.Value{}, err
			}
			p.page, p.values = page, page.Values()
		}
		n, err := p.values.ReadValues(p.buffer[:])
		p.next = p.buffer[:n]
		if err == io.EOF {
			p.values = nil
		} else if err != nil {
			return parquet.Value{}, err
		} else if n == 0 {
			return parquet.Value{}, errors.New("a page ends too early")
		}
	}
	return p.next[0], nil
}

// close releases the present page.
func (p *parquetColumn) close() {
	if p.page != nil {
		parquet.Release(p.page)
	}
	p.page, p.values = nil, nil
}

// set stores v as value i of a row.
func (p *parquetColumn) set(row, i int, v parquet.Value) error {
	c := p.cells
	switch t := p.logical.(type) {
	case *format.TimestampType:
		switch t.Unit.Value.(type) {
		case *format.MilliSeconds:
			return c.setTime(row, time.UnixMilli(v.Int64()))
		case *format.MicroSeconds:
			return c.setTime(row, time.UnixMicro(v.Int64()))
		}
		return c.setTime(row, time.Unix(0, v.Int64()))
	case *format.DateType:
		return c.setTime(row, time.Unix(int64(v.Int32())*86400, 0))
	case *format.DecimalType:
		if k := v.Kind(); k == parquet.Int32 || k == parquet.Int64 {
			n := v.Int64()
			if k == parquet.Int32 {
				n = int64(v.Int32())
			}
			return c.setText(row, fmt.Sprintf("%de-%d", n, t.Scale))
		}
		return errors.New("a decimal number of more than 8 bytes does not fit: write the column as DOUBLE")
	case *format.IntType:
		if t.IsSigned {
			break
		}
		if v.Kind() == parquet.Int32 {
			return c.setUint(row, i, uint64(uint32(v.Int32())))
		}
		return c.setUint(row, i, uint64(v.Int64()))
	}
	switch v.Kind() {
	case parquet.Boolean:
		return c.setBool(row, i, v.Boolean())
	case parquet.Int32:
		return c.setInt(row, i, int64(v.Int32()))
	case parquet.Int64:
		return c.setInt(row, i, v.Int64())
	case parquet.Float:
		return c.setFloat(row, i, float64(v.Float()))
	case parquet.Double:
		return c.setFloat(row, i, v.Double())
	case parquet.ByteArray:
		return c.setText(row, string(v.ByteArray()))
	}
	return fmt.Errorf("a value of type %s does not fit", v.Kind())
}
