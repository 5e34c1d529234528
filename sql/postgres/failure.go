package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/ncruces/go-sqlite3"
)

// The codes (SQLSTATE) of errors and warnings that the server sends. PostgreSQL lists them in its appendix A.
const (
	codeWarning            = "01000"
	codeProtocolViolation  = "08P01"
	codeNotSupported       = "0A000"
	codeInvalidText        = "22P02"
	codeInvalidBinary      = "22P03"
	codeInvalidParameter   = "22023"
	codeActiveTransaction  = "25001"
	codeReadOnly           = "25006"
	codeNoTransaction      = "25P01"
	codeFailedTransaction  = "25P02"
	codeNoStatement        = "26000"
	codeWrongPassword      = "28P01"
	codeInvalidAuth        = "28000"
	codeNoCursor           = "34000"
	codeDatatypeMismatch   = "42804"
	codeSyntax             = "42601"
	codeNoColumn           = "42703"
	codeAmbiguousColumn    = "42702"
	codeNoSetting          = "42704"
	codeNoTable            = "42P01"
	codeNoFunction         = "42883"
	codeDuplicateCursor    = "42P03"
	codeDuplicateStatement = "42P05"
	codeGroup              = "42803"
	codeTooManyConnections = "53300"
	codeOutOfMemory        = "53200"
	codeLimit              = "54000"
	codeCancelled          = "57014"
	codeShutdown           = "57P01"
	codeInternal           = "XX000"
	codeLockNotAvailable   = "55P03"
	codeNumericOutOfRange  = "22003"
	codeNotInState         = "55000"
)

// A failure is an error as a client sees it.
type failure struct {
	code    string
	message string
	hint    string
}

func (f *failure) Error() string { return f.message }

func fail(code, message string) *failure { return &failure{code: code, message: message} }

func failWithHint(code, message, hint string) *failure { return &failure{code, message, hint} }

// errCancelled is the cause of contexts that a cancel request ends.
var errCancelled = errors.New("a cancel request ended the statement")

// errTimeout is the cause of contexts that the setting statement_timeout ends.
var errTimeout = errors.New("the statement took too long")

// errClosed is the cause of contexts that Server.Close ends.
var errClosed = errors.New("the server is closing")

// failureOf returns the error that a client receives for err, which an operation with context ctx returned.
func failureOf(ctx context.Context, err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if coded, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); ok {
		return fail(coded.SQLState(), strings.TrimPrefix(coded.Error(), "vastsql: "))
	}
	if ctx.Err() != nil || errors.Is(err, sqlite3.INTERRUPT) || errors.Is(err, context.Canceled) {
		if errors.Is(context.Cause(ctx), errClosed) {
			return fail(codeShutdown, "terminating connection because the server is closing")
		}
		if errors.Is(context.Cause(ctx), errTimeout) {
			return failWithHint(codeCancelled, "canceling statement due to statement timeout",
				"Ask for less, or raise the setting statement_timeout.")
		}
		return fail(codeCancelled, "canceling statement due to user request")
	}
	message := err.Error()
	message = strings.TrimPrefix(message, "sqlite3: ")
	message = strings.TrimPrefix(message, "SQL logic error: ")
	return &failure{code: codeOf(err, message), message: message, hint: hintOf(message)}
}

// messageCodes maps texts in messages of SQLite, and of package vastsql, to codes. SQLite gives most of these
// errors the same number. If a message contains several of the texts, the first one counts.
var messageCodes = []struct{ text, code string }{
	{"vastsql: Options.MaxTime", codeCancelled},
	{"vastsql: Options.", codeLimit},
	{"no such table", codeNoTable},
	{"no such column", codeNoColumn},
	{"has no column", codeNoColumn},
	{"no such function", codeNoFunction},
	{"wrong number of arguments", codeNoFunction},
	{"ambiguous column", codeAmbiguousColumn},
	{"misuse of aggregate", codeGroup},
	{"syntax error", codeSyntax},
	{"incomplete input", codeSyntax},
	{"unrecognized token", codeSyntax},
	{"readonly database", codeReadOnly},
	{"read-only", codeReadOnly},
	{"read only", codeReadOnly},
	{"may not be modified", codeReadOnly},
	{"not authorized", codeReadOnly},
	{"integer overflow", codeNumericOutOfRange},
	{"malformed JSON", codeInvalidText},
	{"multiple statements", codeSyntax},
}

func codeOf(err error, message string) string {
	for _, m := range messageCodes {
		if strings.Contains(message, m.text) {
			return m.code
		}
	}
	code, ok := errors.AsType[sqlite3.ErrorCode](err)
	if !ok {
		return codeInternal
	}
	switch code {
	case sqlite3.ERROR:
		// Most other errors with this number are mistakes in the statement, such as a LIMIT in a wrong place.
		return codeSyntax
	case sqlite3.READONLY, sqlite3.AUTH, sqlite3.PERM:
		return codeReadOnly
	case sqlite3.BUSY, sqlite3.LOCKED:
		return codeLockNotAvailable
	case sqlite3.NOMEM:
		return codeOutOfMemory
	case sqlite3.TOOBIG:
		return codeLimit
	case sqlite3.MISMATCH:
		return codeDatatypeMismatch
	}
	return codeInternal
}

// hintOf tells what to do about an error of SQLite that users of PostgreSQL do not expect.
func hintOf(message string) string {
	if strings.Contains(message, "no such function") {
		return "The functions are those of SQLite: https://sqlite.org/lang_corefunc.html"
	}
	if strings.Contains(message, "no such table: pg_") || strings.Contains(message,
		"no such table: information_schema") {
		return "A statement reads either the catalog or the tables of the database. Send two statements."
	}
	return ""
}

// response returns f as a message of the protocol.
func (f *failure) response(severity string) *pgproto3.ErrorResponse {
	return &pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: f.code, Message: f.message, Hint: f.hint,
	}
}
