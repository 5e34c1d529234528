package remote

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// canned is a connector and its connection. Each statement has the same answer.
type canned struct{ answer string }

func (c canned) Connect(context.Context) (driver.Conn, error) { return c, nil }
func (c canned) Driver() driver.Driver                        { return unopenable{} }
func (c canned) Prepare(string) (driver.Stmt, error)          { return nil, errPrepared }
func (c canned) Begin() (driver.Tx, error)                    { return nil, errTransaction }
func (c canned) Close() error                                 { return nil }

func (c canned) QueryContext(ctx context.Context, text string, _ []driver.NamedValue) (driver.Rows, error) {
	r, err := begin(ctx, "town", text, io.NopCloser(strings.NewReader(c.answer)))
	if err != nil {
		return nil, err
	}
	return r, nil
}

// FuzzRows reads arbitrary answers. If the driver accepts an answer, it must read the same values from each
// row as encoding/json. Rows that encoding/json rejects are not checked.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{answer, "{}", `{"columns":[]}` + "\n[]\n" + `{"rows":1}` + "\n",
		`{"columns":[{"name":"a"}]}` + "\n[1.5]\n[\"\\ud800\"]\n" + `{"rows":2}` + "\n",
		`{"columns":[{"name":"a"}]}` + "\n" + `{"error":{"message":"x","position":-1,"length":9}}` + "\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		db := sql.OpenDB(canned{text})
		defer db.Close()
		rows, err := db.QueryContext(t.Context(), "SELECT 1")
		if err != nil {
			_ = err.Error()
			return
		}
		values, err := read(rows)
		if err != nil {
			_ = err.Error()
			return
		}
		lines := strings.Split(text, "\n")
		for i, row := range values {
			var want []any
			d := json.NewDecoder(strings.NewReader(lines[i+1]))
			d.UseNumber()
			if err := d.Decode(&want); err != nil {
				continue // the driver accepts some numbers that are not JSON, such as 01
			}
			for k, v := range row {
				if same, ok := equal(v, want[k]); ok && !same {
					t.Errorf("row %d has the value %#v, which encoding/json reads as %#v", i, v, want[k])
				}
			}
		}
	})
}

// equal compares a value with a value that encoding/json has decoded. ok is false if equal cannot compare
// them, because decoded is an object or an array.
func equal(v driver.Value, decoded any) (same, ok bool) {
	switch want := decoded.(type) {
	case nil, bool, string:
		return v == want, true
	case json.Number:
		switch v := v.(type) {
		case int64:
			n, err := want.Int64()
			return err == nil && n == v, true
		case float64:
			n, err := want.Float64()
			return err == nil && n == v && bytes.ContainsAny([]byte(want), ".eE"), true
		}
		return false, true
	}
	return false, false
}
