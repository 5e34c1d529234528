package postgres_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/vastgo/vast/sql/postgres"
)

// TestClients performs the statements in testdata/clients, which psql's commands and completion, pgx, and
// Grafana send. It compares the answers with the files .txt beside the files .sql. VAST_SQL_WRITE=1 writes
// the files .txt.
func TestClients(t *testing.T) {
	s := listen(t, postgres.Options{})
	files, err := filepath.Glob("testdata/clients/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no statements: %v", err)
	}
	for _, file := range files {
		for _, mode := range []string{"simple_protocol", "cache_statement"} {
			t.Run(filepath.Base(file)+"/"+mode, func(t *testing.T) {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				c := connect(t, s, "default_query_exec_mode="+mode)
				var answers strings.Builder
				for statement := range strings.SplitSeq(string(text), ";\n") {
					if strings.TrimSpace(statement) == "" {
						continue
					}
					answers.WriteString(answer(t, c, statement))
				}
				compare(t, strings.TrimSuffix(file, ".sql")+".txt", answers.String())
			})
		}
	}
}

// answer returns the names of the columns and the rows of a statement as lines.
func answer(t *testing.T, c *pgx.Conn, statement string) string {
	t.Helper()
	rows, err := c.Query(t.Context(), statement)
	if err != nil {
		t.Errorf("%s\n%v", statement, err)
		return ""
	}
	defer rows.Close()
	var b strings.Builder
	for i, field := range rows.FieldDescriptions() {
		if i > 0 {
			b.WriteString(" | ")
		}
		b.WriteString(field.Name)
	}
	b.WriteString("\n")
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Errorf("%s\n%v", statement, err)
			return ""
		}
		for i, value := range values {
			if i > 0 {
				b.WriteString(" | ")
			}
			fmt.Fprint(&b, value)
		}
		b.WriteString("\n")
	}
	if err := rows.Err(); err != nil {
		t.Errorf("%s\n%v", statement, err)
	}
	return b.String() + "\n"
}
