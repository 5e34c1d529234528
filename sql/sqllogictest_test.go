package vastsql

import (
	"bufio"
	"crypto/md5"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vastgo/vast"
)

// logicRecord is a record of a file of sqllogictest, a format of SQLite's authors for tests. A record is a
// statement, or a query with its result.
type logicRecord struct {
	line    int
	isQuery bool
	fails   bool   // the statement must return an error
	text    string // of the statement
	types   string // a letter for each column: I, R or T
	sorted  string // how the result is sorted before the comparison: nosort, rowsort or valuesort
	want    []string
}

// readLogic returns the records that apply to SQLite.
func readLogic(r io.Reader) (all []logicRecord, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	number := 0
	next := func() (string, bool) {
		number++
		return strings.TrimRight(lines.Text(), "\r"), lines.Scan()
	}
	_, more := next()
	for more {
		var line string
		skip := false
		if line, more = next(); !more && line == "" {
			break
		}
		words := strings.Fields(line)
		for len(words) > 1 && (words[0] == "skipif" || words[0] == "onlyif") {
			skip = skip || (words[0] == "skipif") == (words[1] == "sqlite")
			line, more = next()
			words = strings.Fields(line)
		}
		if len(words) == 0 || words[0][0] == '#' || words[0] == "hash-threshold" {
			continue
		}
		if words[0] == "halt" {
			if skip {
				continue
			}
			return all, lines.Err()
		}
		record := logicRecord{line: number, isQuery: words[0] == "query", sorted: "nosort"}
		if record.isQuery && len(words) > 1 {
			record.types = words[1]
			if len(words) > 2 {
				record.sorted = words[2]
			}
		} else {
			record.fails = len(words) > 1 && words[1] == "error"
		}
		into := &record.text
		for line, more = next(); line != ""; line, more = next() {
			if line == "----" {
				into = nil
			} else if into != nil {
				*into += line + "\n"
			} else {
				record.want = append(record.want, line)
			}
			if !more {
				break
			}
		}
		if !skip {
			all = append(all, record)
		}
	}
	return all, lines.Err()
}

// logicTable is a table that the statements of a file create and fill.
type logicTable struct {
	name    string
	columns []string
	types   []string
	rows    [][]any
}

var (
	createTable = regexp.MustCompile(`(?is)^\s*CREATE TABLE (\w+)\s*\((.*)\)\s*;?\s*$`)
	insertInto  = regexp.MustCompile(`(?is)^\s*INSERT INTO (\w+)\s*(?:\(([\w, ]+)\))?\s*` +
		`VALUES\s*\((.*)\)\s*;?\s*$`)
	insertFrom  = regexp.MustCompile(`(?is)^\s*INSERT INTO (\w+)\s+SELECT \* FROM (\w+)\s*;?\s*$`)
	createIndex = regexp.MustCompile(`(?is)^\s*CREATE (UNIQUE )?INDEX `)
	literal     = regexp.MustCompile(`'(?:[^']|'')*'|[^,]+`)
	// allColumns matches statements that read all columns. Their results differ from those of the file,
	// because tables of a world also have the column entity.
	allColumns = regexp.MustCompile(`(?i)(select\s+(all\s+|distinct\s+)?|,\s*)(\w+\s*\.\s*)?` +
		`\*\s*(from|,)|natural`)
)

// perform applies a statement to tables, and reports whether it understands the statement.
func perform(tables map[string]*logicTable, text string) bool {
	if m := createTable.FindStringSubmatch(text); m != nil {
		t := &logicTable{name: m[1]}
		for column := range strings.SplitSeq(m[2], ",") {
			words := strings.Fields(column)
			if len(words) < 2 || strings.EqualFold(words[0], "primary") ||
				strings.EqualFold(words[0], "unique") {
				return false
			}
			t.columns = append(t.columns, words[0])
			t.types = append(t.types, strings.ToUpper(words[1]))
		}
		tables[t.name] = t
		return true
	}
	if m := insertInto.FindStringSubmatch(text); m != nil && tables[m[1]] != nil {
		t := tables[m[1]]
		row := make([]any, len(t.columns))
		into := t.columns
		if m[2] != "" {
			into = strings.Split(strings.ReplaceAll(m[2], " ", ""), ",")
		}
		for i, v := range literal.FindAllString(m[3], -1) {
			at := slices.Index(t.columns, into[i])
			if n, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil {
				row[at] = n
			} else if v[0] == '\'' {
				row[at] = strings.ReplaceAll(v[1:len(v)-1], "''", "'")
			} else if !strings.EqualFold(strings.TrimSpace(v), "null") {
				return false
			}
		}
		t.rows = append(t.rows, row)
		return true
	}
	if m := insertFrom.FindStringSubmatch(text); m != nil && tables[m[1]] != nil && tables[m[2]] != nil {
		tables[m[1]].rows = append(tables[m[1]].rows, tables[m[2]].rows...)
		return true
	}
	return createIndex.MatchString(text)
}

// logicColumns has functions that make columns of a world for the tables that most files have.
var logicColumns = map[string]func(*vast.World, [][]any){
	"t1(a,b,c,d,e)": func() func(*vast.World, [][]any) {
		type T1 struct{ A, B, C, D, E int64 }
		return addColumn[T1]
	}(),
	"t1(a,b,c,d,e) with NULL": func() func(*vast.World, [][]any) {
		type T1 struct{ A, B, C, D, E float64 }
		return addColumn[T1]
	}(),
	"tab0(col0,col1,col2)": func() func(*vast.World, [][]any) {
		type Tab0 struct{ Col0, Col1, Col2 int32 }
		return addColumn[Tab0]
	}(),
	"tab1(col0,col1,col2)": func() func(*vast.World, [][]any) {
		type Tab1 struct{ Col0, Col1, Col2 int16 }
		return addColumn[Tab1]
	}(),
	"tab2(col0,col1,col2)": func() func(*vast.World, [][]any) {
		type Tab2 struct{ Col0, Col1, Col2 uint8 }
		return addColumn[Tab2]
	}(),
}

// addColumn makes a column of components of type T and an entity for each row.
func addColumn[T any](w *vast.World, rows [][]any) {
	column := vast.NewColumn[T](w)
	for _, row := range rows {
		var value T
		fill(reflect.ValueOf(&value).Elem(), 0, row)
		e := w.Archetype(column).New()
		column.Set(e, value)
	}
}

// fill sets the fields of a struct to the values of row. The first value goes to the field with the index
// first. NaN stands for NULL.
func fill(v reflect.Value, first int, row []any) {
	for i, x := range row {
		switch field := v.Field(first + i); {
		case x == nil:
			field.SetFloat(math.NaN())
		case field.Kind() == reflect.String:
			field.SetString(fmt.Sprint(x))
		default:
			field.Set(reflect.ValueOf(x).Convert(field.Type()))
		}
	}
}

// hasNullNumbers reports whether a table has NULL. Numbers of such a table are floats, whose text differs
// from that of the integers in the file.
func hasNullNumbers(tables map[string]*logicTable) bool {
	for _, table := range tables {
		if slices.ContainsFunc(table.rows, func(row []any) bool { return slices.Contains(row, nil) }) {
			return true
		}
	}
	return false
}

// openLogic returns a database with the tables, or nil if a table has NULL in a column of texts. Each table
// that logicColumns lacks becomes one of Options.Lists.
func openLogic(t *testing.T, tables map[string]*logicTable) *sql.DB {
	f := &fixture{w: vast.NewWorld(vast.Options{})}
	lists := map[string]any{}
	for _, table := range tables {
		hasNull := func(i int) bool {
			return slices.ContainsFunc(table.rows, func(row []any) bool { return row[i] == nil })
		}
		form := table.name + "(" + strings.Join(table.columns, ",") + ")"
		if slices.ContainsFunc(table.rows, func(row []any) bool { return slices.Contains(row, nil) }) {
			form += " with NULL"
		}
		if add := logicColumns[form]; add != nil {
			add(f.w, table.rows)
			continue
		}
		fields := []reflect.StructField{{Name: "Entity", Type: reflect.TypeFor[vast.Entity]()}}
		for i, name := range table.columns {
			typ := reflect.TypeFor[int64]()
			switch {
			case strings.HasPrefix(table.types[i], "TEXT"), strings.HasPrefix(table.types[i], "VARCHAR"):
				if typ = reflect.TypeFor[string](); hasNull(i) {
					return nil
				}
			case table.types[i] == "FLOAT", table.types[i] == "REAL", hasNull(i):
				typ = reflect.TypeFor[float64]()
			}
			name = strings.ToUpper(name[:1]) + name[1:]
			fields = append(fields, reflect.StructField{Name: name, Type: typ})
		}
		structs := reflect.StructOf(fields)
		list := reflect.MakeSlice(reflect.SliceOf(structs), 0, len(table.rows))
		for i, row := range table.rows {
			v := reflect.New(structs).Elem()
			v.Field(0).Set(reflect.ValueOf(vast.EntityOf(uint64(i + 1))))
			fill(v, 1, row)
			list = reflect.Append(list, v)
		}
		lists[table.name] = list.Interface()
	}
	f.serve(t)
	db, err := Open(f.w, Options{Lists: lists})
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// logicAnswer returns the result of a query in the format of sqllogictest.
func logicAnswer(db *sql.DB, r logicRecord) ([]string, error) {
	rows, err := db.Query(r.text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all [][]string
	for rows.Next() {
		values, targets := make([]any, len(r.types)), make([]any, len(r.types))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = logicText(v, r.types[i])
		}
		all = append(all, row)
	}
	if r.sorted == "rowsort" {
		slices.SortFunc(all, slices.Compare)
	}
	values := slices.Concat(all...)
	if r.sorted == "valuesort" {
		slices.Sort(values)
	}
	if len(r.want) == 1 && strings.Contains(r.want[0], " hashing to ") {
		sum := md5.Sum([]byte(strings.Join(values, "\n") + "\n"))
		values = []string{fmt.Sprintf("%d values hashing to %x", len(values), sum)}
	}
	return values, rows.Err()
}

// leadingNumber matches the part of a text that SQLite converts to a number.
var leadingNumber = regexp.MustCompile(`^\s*[+-]?[0-9]+(\.[0-9]*)?`)

func logicText(v any, typ byte) string {
	if text, ok := v.(string); ok && typ != 'T' {
		// n is 0 if there is no number.
		n, _ := strconv.ParseFloat(strings.TrimSpace(leadingNumber.FindString(text)), 64)
		v = n
	}
	switch typ {
	case 'I':
		switch v := v.(type) {
		case int64:
			return fmt.Sprint(v)
		case float64:
			return fmt.Sprint(int64(v))
		}
	case 'R':
		switch v := v.(type) {
		case int64:
			return fmt.Sprintf("%.3f", float64(v))
		case float64:
			return fmt.Sprintf("%.3f", v)
		}
	}
	switch v {
	case nil:
		return "NULL"
	case "":
		return "(empty)"
	}
	return fmt.Sprint(v)
}

// TestLogic runs files of sqllogictest on a world. The files are those of testdata and those in the folder
// that VAST_LOGIC names, for example SQLite's own files (https://sqlite.org/sqllogictest). The statements
// CREATE TABLE and INSERT of a file make the world. TestLogic skips the rest of a file from a statement that
// TestLogic does not understand, that must fail, or that changes a table after the first query. It also skips
// single queries whose results differ for a world: see allColumns and hasNullNumbers.
func TestLogic(t *testing.T) {
	dirs := []string{"testdata/sqllogictest"}
	if dir := os.Getenv("VAST_LOGIC"); dir != "" {
		dirs = append(dirs, dir)
	}
	queries, fast, left := 0, 0, 0
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".test" {
				return err
			}
			t.Run(filepath.ToSlash(path), func(t *testing.T) {
				q, f, all := runLogic(t, path)
				queries += q
				fast += f
				if !all {
					left++
				}
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d queries, %d of them with aggregates of this package; the rest of %d files was skipped",
		queries, fast, left)
}

// runLogic runs the queries of a file. fast is the number of queries that used aggregates of this package.
// all reports whether the whole file was run.
func runLogic(t *testing.T, path string) (queries, fast int, all bool) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := readLogic(file)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]*logicTable{}
	var db *sql.DB
	for _, r := range records {
		if !r.isQuery {
			if db != nil && !createIndex.MatchString(r.text) || r.fails || !perform(tables, r.text) {
				return queries, fast, false
			}
			continue
		}
		if db == nil {
			if db = openLogic(t, tables); db == nil {
				return queries, fast, false
			}
		}
		if allColumns.MatchString(r.text) || strings.Contains(r.types, "T") && hasNullNumbers(tables) {
			continue
		}
		queries++
		got, err := logicAnswer(db, r)
		if err != nil || !slices.Equal(got, r.want) {
			t.Errorf("line %d: %sgot %q, want %q, error %v", r.line, r.text, got, r.want, err)
		}
		if plan, err := tryRead(db, "EXPLAIN QUERY PLAN "+r.text); err == nil &&
			strings.Contains(strings.Join(plan, " "), aggregatesOf) {
			fast++
		}
	}
	return queries, fast, true
}
