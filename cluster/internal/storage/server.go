package storage

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// bytesMessage is the size of the largest message. NATS advises at most 8 MiB.
const bytesMessage = 8 << 20

// ServerOptions say where an embedded server listens and what it may lose.
type ServerOptions struct {
	Dir string // the folder of its streams
	// Host and Port are the address for other processes. A Port of 0 means that only this process can
	// connect, and −1 any port that is free.
	Host string
	Port int
	// SyncInterval is how often the server syncs its files. Default: before each acknowledgement, so that a
	// power failure loses nothing that was acknowledged.
	SyncInterval time.Duration
	// Name, Route and Peers join several servers: a name that no other one has, the host:port at which the
	// others reach this one, and the host:port of all of them. Default: the server is alone.
	Name, Route string
	Peers       []string
}

// Server is a NATS server inside the process.
type Server struct{ s *server.Server }

// StartServer starts a server. It returns an error if the server is not ready within 30 seconds.
func StartServer(o ServerOptions) (*Server, error) {
	options := &server.Options{ServerName: "vast", JetStream: true, StoreDir: o.Dir, MaxPayload: bytesMessage,
		NoLog: true, NoSigs: true, Host: o.Host, Port: o.Port, DontListen: o.Port == 0}
	options.SyncAlways, options.SyncInterval = o.SyncInterval == 0, o.SyncInterval
	err := o.join(options)
	var s *server.Server
	if err == nil {
		s, err = server.NewServer(options)
	}
	if err != nil {
		return nil, fmt.Errorf("starting the embedded NATS server: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		s.Shutdown()
		return nil, errors.New("the embedded NATS server is not ready after 30 seconds")
	}
	return &Server{s}, nil
}

// join sets the options that connect the server with its peers, if there are peers.
func (o *ServerOptions) join(to *server.Options) error {
	if len(o.Peers) == 0 {
		return nil
	}
	host, port, err := net.SplitHostPort(o.Route)
	if err != nil {
		return fmt.Errorf("its address for other servers, want host:port: %w", err)
	}
	to.Cluster.Name, to.Cluster.Host = "vast", host
	if to.Cluster.Port, err = strconv.Atoi(port); err != nil {
		return fmt.Errorf("its address for other servers, want host:port: %w", err)
	}
	to.ServerName = o.Name
	for _, peer := range o.Peers {
		to.Routes = append(to.Routes, &url.URL{Scheme: "nats-route", Host: peer})
	}
	return nil
}

// embedded is the address at which a process reaches its own embedded server.
const embedded = "embedded:4222"

// options returns the options for the connection of this process. If the embedded server ends the connection
// or does not answer, the client connects to the peers that the embedded server has announced.
func (s *Server) options() []nats.Option {
	return []nats.Option{nats.SetCustomDialer(dialer{s.s}), nats.SkipHostLookup()}
}

// dialer connects to the embedded server without a network, and to others by TCP.
type dialer struct{ s *server.Server }

// Dial implements [nats.CustomDialer].
func (d dialer) Dial(network, address string) (net.Conn, error) {
	if address == embedded {
		return d.s.InProcessConn()
	}
	return net.DialTimeout(network, address, timeoutDial)
}

// URL returns the address for other processes. The server must have a port.
func (s *Server) URL() string { return s.s.ClientURL() }

// Close stops the server and waits until its files are closed.
func (s *Server) Close() {
	s.s.Shutdown()
	s.s.WaitForShutdown()
}
