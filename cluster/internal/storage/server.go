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

// bytesMessage is the maximum size of a message. NATS advises at most 8 MiB.
const bytesMessage = 8 << 20

// ServerOptions are the options of an embedded server.
type ServerOptions struct {
	Dir string // folder of the streams
	// Host and Port are the address for other processes. If Port is 0, only this process can connect. If Port
	// is −1, the server chooses a free port.
	Host string
	Port int
	// SyncInterval is the time between two syncs of the files. Default: the server syncs before each
	// acknowledgement, so a power failure does not lose acknowledged messages.
	SyncInterval time.Duration
	// Name, Route and Peers join several servers. Each server must have a different Name. Route is the
	// host:port at which this server listens for the other servers. Peers has the host:port of each server.
	// Default: the server has no peers.
	Name, Route string
	Peers       []string
}

// Server is a NATS server inside the process.
type Server struct{ s *server.Server }

// StartServer starts a server. It returns an error if the options are wrong, or if the server is not ready
// within 30 seconds.
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
		return fmt.Errorf("the address for other servers is %q, want host:port: %w", o.Route, err)
	}
	to.Cluster.Name, to.Cluster.Host = "vast", host
	if to.Cluster.Port, err = strconv.Atoi(port); err != nil {
		return fmt.Errorf("the address for other servers is %q, want host:port: %w", o.Route, err)
	}
	to.ServerName = o.Name
	for _, peer := range o.Peers {
		to.Routes = append(to.Routes, &url.URL{Scheme: "nats-route", Host: peer})
	}
	return nil
}

// embedded is the address with which a process connects to its own embedded server.
const embedded = "embedded:4222"

// options returns the options for the connection of this process. If the embedded server ends the connection
// or does not answer, the client connects to the peers that the embedded server has announced.
func (s *Server) options() []nats.Option {
	return []nats.Option{nats.SetCustomDialer(dialer{s.s}), nats.SkipHostLookup()}
}

// dialer connects to the embedded server without a network, and to other servers by TCP.
type dialer struct{ s *server.Server }

// Dial implements [nats.CustomDialer].
func (d dialer) Dial(network, address string) (net.Conn, error) {
	if address == embedded {
		return d.s.InProcessConn()
	}
	return net.DialTimeout(network, address, timeoutDial)
}

// URL returns the address for other processes. Do not call URL if ServerOptions.Port was 0.
func (s *Server) URL() string { return s.s.ClientURL() }

// Close stops the server and waits until its files are closed.
func (s *Server) Close() {
	s.s.Shutdown()
	s.s.WaitForShutdown()
}
