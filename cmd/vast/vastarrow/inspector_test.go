package main

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/vastgo/vast"
	vastarrow "github.com/vastgo/vast/arrow"
	"github.com/vastgo/vast/cmd/vast/internal/attach"
	"github.com/vastgo/vast/cmd/vast/internal/vasttest"
)

const numbers = 30_000

// failing is a statement that fails after 20,000 rows.
const failing = "SELECT abs(iif(value < 20000, value, -9223372036854775808)) AS n FROM number"

// inspected runs a world with the numbers from 0 to 29,999. It returns the URL of the world's inspector.
func inspected(t *testing.T) string {
	t.Helper()
	w := vast.NewWorld(vast.Options{})
	column := vast.NewColumn[int64](w).Named("Number")
	n := int64(0)
	w.Archetype(column).NewN(numbers, func(r vast.Run) {
		for i := range column.Slice(r) {
			column.Slice(r)[i] = n
			n++
		}
	})
	return vasttest.Inspect(t, w, func(db *sql.DB) map[string]http.Handler {
		return map[string]http.Handler{"arrow": vastarrow.Handler(db)}
	})
}

// TestArrowOfAnInspector reads Arrow streams from an inspector.
func TestArrowOfAnInspector(t *testing.T) {
	p, err := attach.New(inspected(t), "")
	if err != nil {
		t.Fatal(err)
	}
	body, err := p.Open(t.Context(), "arrow", url.Values{"q": {"SELECT value FROM number ORDER BY value"}})
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	rows, err := ipc.NewReader(body)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	n := int64(0)
	for rows.Next() {
		for _, v := range rows.RecordBatch().Column(0).(*array.Int64).Int64Values() {
			if v != n {
				t.Fatalf("value %d, want %d", v, n)
			}
			n++
		}
	}
	if err := rows.Err(); err != nil || n != numbers {
		t.Errorf("%d rows, want %d; %v", n, numbers, err)
	}
	_, err = p.Open(t.Context(), "arrow", url.Values{"q": {"SELECT absent FROM number"}})
	if err == nil || !strings.Contains(err.Error(), "no such column: absent") {
		t.Errorf("%v", err)
	}
	body, err = p.Open(t.Context(), "arrow", url.Values{"q": {failing}})
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if _, err := io.Copy(io.Discard, body); err != io.ErrUnexpectedEOF {
		t.Errorf("a statement that fails late: %v", err)
	}
}

// TestExportOfAnInspector writes a file in each format. A failed export must remove its file.
func TestExportOfAnInspector(t *testing.T) {
	address, dir := inspected(t), t.TempDir()
	status, out, notes := runTask(t, "export", "-addr", address, "-format", "csv",
		"SELECT count(*) AS n, max(value) * 0.5 AS half, sum(9223372036854775807) AS most, NULL AS none, "+
			"x'00ff' AS b FROM number WHERE value < 1")
	if want := "n,half,most,none,b\n1,0,9223372036854775807,,AP8=\n"; status != 0 || out != want ||
		notes != "" {
		t.Errorf("exit status %d\n%s%s, want\n%s", status, out, notes, want)
	}
	for _, f := range formats {
		file := filepath.Join(dir, "numbers"+f.extensions[0])
		status, out, notes := runTask(t, "export", "-addr", address, "-out", file, "SELECT value FROM number")
		if status != 0 || out+notes != "" {
			t.Errorf("%s: exit status %d\n%s%s", f.name, status, out, notes)
			continue
		}
		data, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer data.Close()
		w := vast.NewWorld(vast.Options{})
		defer w.Close()
		vast.NewColumn[int64](w).Named("Value")
		r, err := vastarrow.Read(t.Context(), w, data, f.format, vastarrow.ReadOptions{})
		if err != nil || r.Entities != numbers || r.Refused+len(r.Unknown) > 0 {
			t.Errorf("%s: %+v, %v", f.name, r, err)
		}
	}
	file := filepath.Join(dir, "failed.csv")
	if status, _, notes := runTask(t, "export", "-addr", address, "-out", file, failing); status != 1 ||
		!strings.Contains(notes, "integer overflow") {
		t.Errorf("a statement that fails late: exit status %d\n%s", status, notes)
	}
	for signal, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(interruption{signal})
		if status := run(ctx, []string{"export", "-addr", address, "-out", file, "SELECT 1"}, io.Discard,
			io.Discard); status != want {
			t.Errorf("after the signal %v, the exit status is %d, want %d", signal, status, want)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a failed export leaves a file")
	}
}
