package vastarrow

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
)

// Handler returns a handler that answers GET requests whose parameter q is an SQL statement. The handler runs
// the statement in a read-only transaction of db, and sends the rows as an Arrow IPC stream. [Rows] chooses
// the types of the columns.
//
// The handler reads up to 8,192 rows before it sends anything. If the statement fails before the handler has
// sent a part of the stream, the status is 400, and the body is JSON such as
// {"error": {"code": "sql", "message": "no such column: speed"}}. If the statement fails later, the handler
// closes the connection, so that the client sees an incomplete stream. If the client closes the connection,
// the statement ends.
//
// The handler answers every client. To decide who may read the data, serve the handler behind a handler that
// checks the client, such as an inspector:
//
//	inspect.Options{Handlers: map[string]http.Handler{"arrow": vastarrow.Handler(db)}}
//
// Clients of this inspector read URLs such as http://127.0.0.1:8080/api/v1/arrow?q=SELECT+x+FROM+position.
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

// answer is a response writer that records whether a part of the stream was sent.
type answer struct {
	http.ResponseWriter
	begun bool
}

// Write sends a part of the stream. The first call also sets the content type.
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

// refuse sends an error in the form of package inspect.
func refuse(w http.ResponseWriter, status int, code, message string) {
	text, _ := json.Marshal(map[string]any{"error": map[string]string{"code": code, "message": message}})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the client is gone
}
