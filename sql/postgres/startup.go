package postgres

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// serve serves a connection from the first byte to the last.
func (s *Server) serve(conn net.Conn) {
	defer conn.Close()
	defer func() {
		// A defect of the server must not end the process, which may run a simulation.
		if v := recover(); v != nil {
			s.options.Logger.Error("postgres: panic while serving a client", "panic", v)
		}
	}()
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	x := &session{server: s, ctx: ctx, cancel: cancel, conn: &connection{Conn: conn}}
	defer context.AfterFunc(ctx, func() { x.conn.interrupt() })()
	conn.SetDeadline(time.Now().Add(maxHandshakeTime))
	started, err := x.start()
	if err != nil {
		s.options.Logger.Debug("postgres: client not connected", "client", conn.RemoteAddr(), "error", err)
		return
	}
	if !started {
		return
	}
	defer s.exit(x)
	defer x.close()
	conn.SetDeadline(time.Time{})
	s.options.Logger.Debug("postgres: client connected", "client", conn.RemoteAddr(), "user", x.userName)
	if ctx.Err() != nil {
		x.conn.interrupt() // again: SetDeadline may have removed the deadline of an earlier call
	}
	x.conn.readAhead(ctx, &s.running, cancel)
	err = x.run()
	s.options.Logger.Debug("postgres: client disconnected", "client", conn.RemoteAddr(), "reason", err)
	// The end of the connection ends the goroutine of readAhead, which closes chunks.
	x.conn.Close()
	for range x.conn.chunks {
	}
}

// start performs the handshake. It returns false if the connection was for a cancel request.
func (x *session) start() (bool, error) {
	x.newBackend()
	for {
		message, err := x.backend.ReceiveStartupMessage()
		if err != nil {
			return false, err
		}
		switch message := message.(type) {
		case *pgproto3.SSLRequest:
			if err := x.startTLS(); err != nil {
				return false, err
			}
		case *pgproto3.GSSEncRequest:
			if _, err := x.conn.Write([]byte{'N'}); err != nil {
				return false, err
			}
		case *pgproto3.CancelRequest:
			x.server.cancelStatement(message)
			return false, nil
		case *pgproto3.StartupMessage:
			return true, x.welcome(message)
		}
	}
}

func (x *session) newBackend() {
	x.backend = pgproto3.NewBackend(x.conn, x.conn)
	x.backend.SetMaxBodyLen(maxHandshakeBytes)
}

func (x *session) startTLS() error {
	config := x.server.options.TLS
	if config == nil || x.encrypted {
		_, err := x.conn.Write([]byte{'N'})
		return err
	}
	if _, err := x.conn.Write([]byte{'S'}); err != nil {
		return err
	}
	encrypted := tls.Server(x.conn.Conn, config)
	if err := encrypted.HandshakeContext(x.ctx); err != nil {
		return fmt.Errorf("starting TLS: %w", err)
	}
	x.conn.mutex.Lock()
	x.conn.Conn = encrypted
	x.conn.mutex.Unlock()
	x.encrypted = true
	// The old backend may have read bytes before the encryption began. Anyone may have sent these bytes, so
	// startTLS drops them with the old backend.
	x.newBackend()
	return nil
}

// cancelStatement cancels the statement of the session that a request names, if the key is right. The sender
// gets no answer.
func (s *Server) cancelStatement(request *pgproto3.CancelRequest) {
	x := s.session(request.ProcessID)
	if x != nil && subtle.ConstantTimeCompare(x.key, request.SecretKey) == 1 {
		x.cancelRunning()
	}
}

// welcome authenticates the client and tells it about the server.
func (x *session) welcome(message *pgproto3.StartupMessage) error {
	x.userName = message.Parameters["user"]
	x.initial = newSettings(message.Parameters)
	x.settings = maps.Clone(x.initial)
	x.negotiate(message)
	if x.userName == "" {
		return x.refuse(failWithHint(codeInvalidAuth, "no user name", "Name a user, for example user=vast."))
	}
	if err := x.authenticate(); err != nil {
		return err
	}
	x.key = make([]byte, 4)
	rand.Read(x.key)
	if !x.server.enter(x) {
		return x.refuse(failWithHint(codeTooManyConnections,
			fmt.Sprintf("too many clients: the server admits %d", x.server.options.MaxConnections),
			"Close a client, or raise Options.MaxConnections."))
	}
	x.backend.SetMaxBodyLen(maxMessageBytes)
	x.backend.Send(&pgproto3.AuthenticationOk{})
	for _, name := range reportedSettings {
		value, _ := x.setting(name)
		x.backend.Send(&pgproto3.ParameterStatus{Name: name, Value: value})
	}
	x.backend.Send(&pgproto3.BackendKeyData{ProcessID: x.id, SecretKey: x.key})
	x.ready()
	if err := x.backend.Flush(); err != nil {
		x.server.exit(x)
		return err
	}
	return nil
}

// negotiate answers a client that asks for a newer version or for extensions of the protocol. The answer says
// what the server speaks.
func (x *session) negotiate(message *pgproto3.StartupMessage) {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(message.Parameters)) {
		if strings.HasPrefix(name, "_pq_.") {
			unknown = append(unknown, name)
		}
	}
	if message.ProtocolVersion != pgproto3.ProtocolVersion30 || len(unknown) > 0 {
		x.backend.Send(&pgproto3.NegotiateProtocolVersion{
			NewestMinorProtocol: pgproto3.ProtocolVersion30, UnrecognizedOptions: unknown,
		})
	}
}

// refuse tells the client why the connection ends.
func (x *session) refuse(f *failure) error {
	x.backend.Send(f.response("FATAL"))
	return errors.Join(f, x.backend.Flush())
}
