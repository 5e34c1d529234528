package postgres

import (
	"crypto/tls"
	"log/slog"
	"time"
)

// connectionsMaxDefault is the default of Options.MaxConnections.
const connectionsMaxDefault = 256

// Options are the settings of a server. The zero value serves clients on the loopback address without a
// password.
type Options struct {
	// Password is the password of all users. Clients prove with SCRAM-SHA-256 that they know it. Without a
	// password every client may connect, and Listen accepts loopback addresses only.
	Password string

	// TLS encrypts connections of clients that ask for it (sslmode=require). With a password, clients of
	// other machines must use TLS if it is set. Default: no encryption.
	TLS *tls.Config

	// MaxConnections is the number of clients that may be connected at once. Further clients receive the
	// error 53300. Default: 256.
	MaxConnections int

	// Logger receives connections and statements at level debug, and failures of the server at level error.
	// Default: none.
	Logger *slog.Logger
}

// Limits that no client can change.
const (
	handshakeMax      = 10 * time.Second // from connecting to the end of authentication
	writeMax          = time.Minute      // for a client to accept a piece of a result
	handshakeBytesMax = 10_000           // of a message from a client that is not authentic yet
	messageBytesMax   = 16 << 20         // of a message from a client
	statementBytesMax = 1 << 20          // of the text of a statement
	statementsMax     = 10_000           // prepared statements of a client
	portalsMax        = 100              // open portals of a client, which hold connections to SQLite
	handshakesMax     = 64               // connections beyond MaxConnections, which cancel requests need
	flushBytes        = 32 << 10         // of a result that the server collects before it sends them
)
