package vastsql

import (
	"fmt"

	"github.com/vastgo/vast"
)

// The codes of a WriteError.
const (
	codeConflict    = "40001" // serialization failure
	codeUnsure      = "40003" // statement completion unknown
	codeReadOnly    = "25006"
	codeTransaction = "25001" // active transaction
	codeUnsupported = "0A000"
	codeNull        = "23502"
	codeNoEntity    = "23503" // foreign key violation
	codeRefused     = "23503"
	codeExists      = "23505" // unique violation
	codeCircle      = "23514" // check violation
	codeRange       = "22003"
	codeInvalidText = "22P02"
	codeMismatch    = "42804"
	codeNoColumn    = "42703"
	codeFixedColumn = "428C9" // the column is generated
	codeNoMemory    = "53200"
	codePanic       = "XX000"
)

// WriteError reports why a statement that writes failed. Unless Code is "40003" or "XX000", the statement
// changed nothing.
type WriteError struct {
	// Code is an SQLSTATE of PostgreSQL:
	//   - 40001: the world has changed since the statement read it; a repetition may succeed
	//   - 22003, 22P02, 42804, 23502: a value does not fit its field
	//   - 23503, 23505, 23514: the entity does not live or has the component or edge already, another entity
	//     has the name, a link would close a circle, or a relation refuses the deletion
	//   - 25001, 25006, 428C9: the statement must not write, or must not set this column
	//   - 0A000: the statement has an unsupported form, such as OR FAIL, or RETURNING with another column
	//   - 42703: there is no such component or field
	//   - 53200: there is not enough memory
	//   - 40003: the program may have applied the statement, or may still apply it
	//   - XX000: a callback of the program panicked; earlier changes of the statement remain
	Code   string
	Row    int         // number of the row in the statement, from 1 on; 0 if the error concerns no row
	Entity vast.Entity // entity of the row; zero for a new entity
	Detail string
	cause  error
}

// refuse returns a WriteError that concerns no row.
func refuse(code, format string, args ...any) *WriteError {
	return &WriteError{Code: code, Detail: fmt.Sprintf(format, args...)}
}

func (e *WriteError) Error() string {
	switch {
	case e.Row == 0:
		return "vastsql: " + e.Detail
	case e.Entity.IsZero():
		return fmt.Sprintf("vastsql: nothing was written: row %d: %s", e.Row, e.Detail)
	}
	return fmt.Sprintf("vastsql: nothing was written: row %d, entity %d (%v): %s", e.Row,
		int64(e.Entity.ID()), e.Entity, e.Detail)
}

// Unwrap returns the error that caused e, such as an error of the program or of package vm, or nil.
func (e *WriteError) Unwrap() error { return e.cause }

// SQLState returns Code. Package postgres sends it to clients.
func (e *WriteError) SQLState() string { return e.Code }
