package postgres

import (
	"crypto/tls"
	"log/slog"
	"time"
)

// defaultMaxConnections is the default of Options.MaxConnections.
const defaultMaxConnections = 256

// Options are the settings of a server. The zero value serves clients on the loopback address without a
// password.
type Options struct {
	// Password is the password of all users. Clients prove with SCRAM-SHA-256 that they know it. Without a
	// password every client may connect, and Listen accepts loopback addresses only.
	Password string

	// TLS encrypts connections of clients that ask for it (sslmode=require). If TLS and Password are both
	// set, clients of other machines must use TLS. Default: no encryption.
	TLS *tls.Config

	// Write allows clients to send INSERT, UPDATE and DELETE. The database must allow these statements, too:
	// see vastsql.Options.Write. Default: the server is read-only.
	Write bool

	// MaxConnections is the number of clients that may be connected at once. The server refuses further
	// clients with the error 53300. If the server already has MaxConnections + 64 connections, the server
	// closes a new connection without an error. Default: 256.
	MaxConnections int

	// Logger receives connections and statements at level debug, and failures of the server at level error.
	// Default: none.
	Logger *slog.Logger
}

// Limits that no client can change.
const (
	maxHandshakeTime  = 10 * time.Second // from connecting to the end of authentication
	maxWriteTime      = time.Minute      // for a client to accept a piece of a result
	maxHandshakeBytes = 10_000           // of a message from a client before the end of authentication
	maxMessageBytes   = 16 << 20         // of a message from a client after authentication
	maxStatementBytes = 1 << 20          // of the text of a message with statements
	maxStatements     = 10_000           // prepared statements of a client
	maxPortals        = 100              // open portals of a client, which hold connections to SQLite
	maxHandshakes     = 64               // connections beyond MaxConnections, for handshakes and cancelling
	flushBytes        = 32 << 10         // of a result that the server collects and then sends
)
