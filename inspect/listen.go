package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Limits for clients.
const (
	maxConnections = 256 // open connections of all clients together
	maxHeaderBytes = 16 << 10
	maxBodyBytes   = 1 << 20
	headerTime     = 5 * time.Second  // time to send the head of a request
	readTime       = 15 * time.Second // time to send a request
	idleTime       = 30 * time.Second // time between two requests of a connection
	writeTime      = 10 * time.Second // time to accept one write of an answer
)

// ListenError reports that the inspector cannot listen at an address. If the address is in use,
// errors.Is(err, syscall.EADDRINUSE) is true, even on Windows, where the error code differs.
type ListenError struct {
	Addr string
	Err  error
}

func (e *ListenError) Error() string {
	if errors.Is(e.Err, errTaken) {
		return fmt.Sprintf("inspect: %s is already in use: choose another port, or port 0 for any free port",
			e.Addr)
	}
	return fmt.Sprintf("inspect: cannot listen at %s: %v", e.Addr, e.Err)
}

func (e *ListenError) Unwrap() error { return e.Err }

func (e *ListenError) Is(target error) bool {
	return target == syscall.EADDRINUSE && errors.Is(e.Err, errTaken)
}

func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, &ListenError{addr, err}
	}
	return l, nil
}

// newServer returns a server. When ctx ends, the contexts of all requests to the server end.
func newServer(ctx context.Context, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnState:         newConnections(maxConnections).note,
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		IdleTimeout:       idleTime,
		// The handler answers OPTIONS * like any other request.
		DisableGeneralOptionsHandler: true,
		// There is no WriteTimeout, because streams last long. Each write sets its own deadline.
		ErrorLog: log.New(io.Discard, "", 0), // clients that hang up are not errors
	}
}

// browsable returns an address that a browser can open: the loopback address for a listener on all addresses.
func browsable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return a.String()
	}
	if tcp.IP.IsUnspecified() {
		ip := net.IPv4(127, 0, 0, 1)
		if tcp.IP.To4() == nil {
			ip = net.IPv6loopback
		}
		return (&net.TCPAddr{IP: ip, Port: tcp.Port}).String()
	}
	return a.String()
}
