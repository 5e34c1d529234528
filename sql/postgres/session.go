package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A session serves one client, from the handshake on. One goroutine runs it. Others may call cancelRunning.
type session struct {
	server    *Server
	ctx       context.Context // ends with the connection or with the server
	cancel    context.CancelCauseFunc
	conn      *connection
	encrypted bool
	backend   *pgproto3.Backend
	userName  string
	id        uint32
	key       []byte // a cancel request must contain this key

	settings    settings
	initial     settings // settings when the client connected, which RESET restores
	transaction byte
	statements  map[string]*statement
	portals     map[string]*portal
	skipping    bool // after an error of the extended protocol, until Sync
	pending     int  // bytes of rows since the last flush
	scratch     []byte
	ends        []int // ends of the values in scratch
	row         pgproto3.DataRow

	mutex   sync.Mutex
	running context.CancelCauseFunc // cancels the statement that runs; nil if no statement runs
	timeout *time.Timer             // cancels after statement_timeout; nil without a statement or a limit
}

// errTerminated is the error of a session that the client ends with the message Terminate.
var errTerminated = errors.New("the client said goodbye")

// A connectionError ends a session, because the client cannot be reached any more.
type connectionError struct{ err error }

func (e *connectionError) Error() string { return e.err.Error() }
func (e *connectionError) Unwrap() error { return e.err }

// run serves messages until the session ends. It returns the reason of the end.
func (x *session) run() error {
	x.statements, x.portals = map[string]*statement{}, map[string]*portal{}
	for {
		message, err := x.backend.Receive()
		if err != nil {
			return x.farewell(err)
		}
		if err := x.handle(message); err != nil {
			return x.farewell(err)
		}
	}
}

// farewell tells the client why the session ends, if the client can still hear it.
func (x *session) farewell(err error) error {
	var f *failure
	switch {
	case errors.Is(context.Cause(x.ctx), errClosed):
		f = fail(codeShutdown, "terminating connection because the server is closing")
	case errors.Is(err, errTerminated), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		x.ctx.Err() != nil:
		return err
	default:
		if _, gone := errors.AsType[*connectionError](err); gone {
			return err
		}
		f = fail(codeProtocolViolation, "malformed message: "+err.Error())
	}
	return x.refuse(f)
}

// handle serves a message. An error ends the session.
func (x *session) handle(message pgproto3.FrontendMessage) error {
	if _, ok := message.(*pgproto3.Terminate); ok {
		return errTerminated
	}
	if x.skipping {
		if _, ok := message.(*pgproto3.Sync); !ok {
			return nil
		}
	}
	switch message := message.(type) {
	case *pgproto3.Query:
		return x.simpleQuery(message.String)
	case *pgproto3.Parse:
		return x.reportExtended(x.parse(message))
	case *pgproto3.Bind:
		return x.reportExtended(x.bind(message))
	case *pgproto3.Describe:
		return x.reportExtended(x.describe(message))
	case *pgproto3.Execute:
		return x.reportExtended(x.execute(message))
	case *pgproto3.Close:
		x.closeObject(message)
		return nil
	case *pgproto3.Flush:
		return x.flush()
	case *pgproto3.Sync:
		x.skipping = false
		if x.transaction == transactionNone {
			x.closePortals()
		}
		x.ready()
		return x.flush()
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail:
		return nil // remains of a COPY FROM that the server refused
	case *pgproto3.FunctionCall:
		if err := x.reportError(failWithHint(codeNotSupported, "function calls are not supported",
			"Use SELECT.")); err != nil {
			return err
		}
		x.ready()
		return x.flush()
	}
	return fail(codeProtocolViolation, fmt.Sprintf("unexpected message %T", message))
}

// reportError sends the error of a statement. It returns an error only if the session must end.
func (x *session) reportError(err error) error {
	if gone, ok := errors.AsType[*connectionError](err); ok {
		return gone
	}
	if x.ctx.Err() != nil {
		return context.Cause(x.ctx)
	}
	f := failureOf(x.ctx, err)
	if f.code == codeInternal {
		x.server.options.Logger.Error("postgres: statement failed", "error", f.message)
	}
	if x.transaction == transactionOpen {
		x.transaction = transactionFailed
	}
	x.backend.Send(f.response("ERROR"))
	return nil
}

// reportExtended reports the error of a message of the extended protocol, if there is one. After an error the
// session skips the messages up to Sync.
func (x *session) reportExtended(err error) error {
	if err == nil {
		return nil
	}
	x.skipping = true
	return x.reportError(err)
}

func (x *session) warn(code, message string) {
	x.backend.Send(&pgproto3.NoticeResponse{
		Severity: "WARNING", SeverityUnlocalized: "WARNING", Code: code, Message: message,
	})
}

func (x *session) sendParameter(name, value string) {
	x.backend.Send(&pgproto3.ParameterStatus{Name: name, Value: value})
}

// ready tells the client the state of the transaction.
func (x *session) ready() {
	if x.transaction == 0 {
		x.transaction = transactionNone
	}
	x.backend.Send(&pgproto3.ReadyForQuery{TxStatus: x.transaction})
}

func (x *session) flush() error {
	x.pending = 0
	if err := x.backend.Flush(); err != nil {
		return &connectionError{err}
	}
	return nil
}

// operation returns a context for a statement. A cancel request or statement_timeout ends the context.
func (x *session) operation() (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(x.ctx)
	x.setRunning(cancel)
	return ctx, cancel
}

// finish notes that the statement does not run any more. It calls cancel if cancel is not nil. The caller
// passes nil if a cursor still needs the context of the operation.
func (x *session) finish(cancel context.CancelCauseFunc) {
	x.setRunning(nil)
	if cancel != nil {
		cancel(nil)
	}
}

// setRunning notes how to cancel the statement that runs; nil stands for no statement. The setting
// statement_timeout limits the time until the next call of setRunning.
func (x *session) setRunning(cancel context.CancelCauseFunc) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.running = cancel
	if x.timeout != nil {
		x.timeout.Stop()
		x.timeout = nil
	}
	if limit := x.statementTimeout(); limit > 0 && cancel != nil {
		x.timeout = time.AfterFunc(limit, func() { cancel(errTimeout) })
	}
}

// cancelRunning cancels the statement that runs, if there is one. Any goroutine may call it.
func (x *session) cancelRunning() {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if x.running != nil {
		x.running(errCancelled)
	}
}

// close ends all queries of the session.
func (x *session) close() { x.closePortals() }
