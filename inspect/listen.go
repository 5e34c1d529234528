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

// What a client may take of the server.
const (
	maxConnections = 256
	maxHeaderBytes = 16 << 10
	maxBodyBytes   = 1 << 20
	headerTime     = 5 * time.Second  // to send a request's head
	readTime       = 15 * time.Second // to send a request
	idleTime       = 30 * time.Second // between two requests
	writeTime      = 10 * time.Second // to take what was written
)

// ListenError says why the inspector cannot listen at an address. Where another program does, errors.Is reports
// syscall.EADDRINUSE, on Windows too, which has a code of its own for that.
type ListenError struct {
	Addr string
	Err  error
}

func (e *ListenError) Error() string {
	if errors.Is(e.Err, errTaken) {
		return fmt.Sprintf("inspect: %s is taken by another program: choose another port, or port 0 for any that is free", e.Addr)
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

// newServer returns the server, whose requests end when ctx does.
func newServer(ctx context.Context, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnState:         newConnections(maxConnections).note,
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		IdleTimeout:       idleTime,
		// OPTIONS * is answered by the handler like all else, or not at all.
		DisableGeneralOptionsHandler: true,
		// What is written has a deadline of its own, which streams put off as long as they are read.
		ErrorLog: log.New(io.Discard, "", 0), // clients that hang up are no news
	}
}

// browsable is an address as a browser can call it: one that stands for all of the machine's is called by its loopback.
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
