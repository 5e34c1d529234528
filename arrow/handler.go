package vastarrow

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
)

// Handler returns a handler that answers GET requests whose parameter q is an SQL statement. The answer has
// the rows of the statement as an Arrow IPC stream. [Rows] chooses the types of the columns. The statement
// runs in a read-only transaction of db.
//
// If the statement fails in its first 8,192 rows, the status is 400, and the body is JSON such as
// {"error": {"code": "sql", "message": "no such column: speed"}}. If the statement fails later, the handler
// closes the connection, so that the client sees an incomplete stream. If the client closes the connection,
// the statement ends.
//
// The handler answers every client. Check before it who may read the data. An inspector does that:
//
//	inspect.Options{Handlers: map[string]http.Handler{"arrow": vastarrow.Handler(db)}}
//
// Clients then read http://127.0.0.1:8080/api/v1/arrow?q=SELECT+x+FROM+position, for example.
func Handler(db *sql.DB) http.Handler {
	if db == nil {
		panic("vastarrow: Handler needs a database; db is nil")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		statement := r.URL.Query().Get("q")
		switch {
		case r.Method != http.MethodGet:
			w.Header().Set("Allow", http.MethodGet)
			refuse(w, http.StatusMethodNotAllowed, "method", "use GET, with the statement in the parameter q")
		case statement == "":
			refuse(w, http.StatusBadRequest, "request", "the parameter q is missing: add ?q=STATEMENT")
		default:
			out := &answer{ResponseWriter: w}
			switch err := serve(r.Context(), out, db, statement); {
			case err == nil:
			case out.begun || r.Context().Err() != nil:
				panic(http.ErrAbortHandler)
			default:
				refuse(w, http.StatusBadRequest, "sql", err.Error())
			}
		}
	})
}

// answer is a response writer that notes whether the answer has begun.
type answer struct {
	http.ResponseWriter
	begun bool
}

// Write begins or continues the answer.
func (a *answer) Write(b []byte) (int, error) {
	if !a.begun {
		a.begun = true
		a.Header().Set("Content-Type", "application/vnd.apache.arrow.stream")
	}
	return a.ResponseWriter.Write(b)
}

// serve runs a statement and writes its rows.
func serve(ctx context.Context, to *answer, db *sql.DB, statement string) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() // there is nothing to commit
	rows, err := tx.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	source, err := readRows(rows)
	if err == nil {
		err = source.err
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(to, 64<<10)
	if err := Write(ctx, out, ArrowStream, source); err != nil {
		return err
	}
	return out.Flush()
}

// refuse answers with an error, in the form in which package inspect sends errors.
func refuse(w http.ResponseWriter, status int, code, message string) {
	text, _ := json.Marshal(map[string]any{"error": map[string]string{"code": code, "message": message}})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the client is gone
}
