package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"
)

// A Server serves a database to clients of PostgreSQL. Its methods may be called by several goroutines at
// once.
type Server struct {
	options  Options
	db       *sql.DB
	listener net.Listener
	secret   *secret // nil without a password
	catalogs *catalogs

	ctx      context.Context
	stop     context.CancelCauseFunc
	running  sync.WaitGroup
	mutex    sync.Mutex
	closed   bool
	conns    int // connections, including those that authenticate
	sessions map[uint32]*session
	lastID   uint32
}

// Listen serves db at an address such as "localhost:5432" until Close. It returns an error if the address is
// wrong or not free, if machines other than this one can reach the address and there is no password, or if
// the password has a character that SCRAM forbids. It panics if db is nil or Options.MaxConnections is
// negative. The caller keeps ownership of db and closes it after the server.
func Listen(address string, db *sql.DB, o Options) (*Server, error) {
	if db == nil {
		panic("postgres: Listen: db is nil: pass a database")
	}
	if o.MaxConnections < 0 {
		panic(fmt.Sprintf("postgres: Options.MaxConnections is %d: it must not be negative",
			o.MaxConnections))
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = defaultMaxConnections
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{options: o, db: db, catalogs: newCatalogs(db), sessions: map[uint32]*session{}}
	if o.Password != "" {
		var err error
		if s.secret, err = newSecret(o.Password); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("postgres: listening for clients: %w", err)
	}
	if s.secret == nil && !isLoopback(listener.Addr()) {
		listener.Close()
		return nil, fmt.Errorf("postgres: other machines can reach %s: set Options.Password, "+
			"or listen on a loopback address such as localhost:5432", address)
	}
	s.listener = listener
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.running.Go(s.accept)
	return s, nil
}

func isLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// Addr returns the address of the server.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Close disconnects all clients, cancels their statements, and waits for the end of all goroutines of the
// server. Further calls return nil.
func (s *Server) Close() error {
	s.mutex.Lock()
	if s.closed {
		s.mutex.Unlock()
		s.running.Wait()
		return nil
	}
	s.closed = true
	s.mutex.Unlock()
	s.stop(errClosed)
	err := s.listener.Close()
	s.running.Wait()
	s.catalogs.close()
	return err
}

// acceptPause is the pause after an error of Accept, for example for lack of file descriptors.
const acceptPause = 50 * time.Millisecond

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			s.options.Logger.Error("postgres: accepting a client", "error", err)
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(acceptPause):
			}
		case !s.admit():
			conn.Close()
		default:
			s.running.Go(func() {
				defer s.leave()
				s.serve(conn)
			})
		}
	}
}

// admit counts a connection. It returns false if there are too many connections, or if Close has been called.
func (s *Server) admit() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed || s.conns-maxHandshakes >= s.options.MaxConnections {
		return false
	}
	s.conns++
	return true
}

func (s *Server) leave() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.conns--
}

// enter gives a session its number. It returns false if there are too many sessions.
func (s *Server) enter(x *session) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.sessions) >= s.options.MaxConnections {
		return false
	}
	for {
		s.lastID = s.lastID%(1<<31-1) + 1 // clients read the number as a positive int32
		if _, taken := s.sessions[s.lastID]; !taken {
			break
		}
	}
	x.id = s.lastID
	s.sessions[x.id] = x
	return true
}

func (s *Server) exit(x *session) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.sessions, x.id)
}

// session returns the session with a number, or nil.
func (s *Server) session(id uint32) *session {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.sessions[id]
}
