package inspect

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vastgo/vast"
)

// Inspector serves a world. Its methods may be called from any goroutine.
type Inspector struct {
	world   *vast.World
	options Options
	guard   guard
	model   model
	places  elementPlaces
	memory  memory
	sampler *sampler
	views   *viewCache
	asked   searches
	looking chan struct{}  // one element for each request that visits the world or waits for a visit
	looks   sync.WaitGroup // counts the elements of looking
	streams chan struct{}  // one element for each open stream
	records chan struct{}  // one element for each request that records ticks
	running chan struct{}  // one element for each running SQL statement

	registry *prometheus.Registry // what /metrics serves
	listener net.Listener
	server   *http.Server
	stop     context.CancelFunc
	ended    chan struct{}
}

// Serve starts a server for a world. The server runs until ctx ends or [Inspector.Close] is called. If the
// world is closed before the server stops, requests that need the world get an error.
//
// The world must admit visitors (see vast.World.Visit). A sched.Schedule admits visitors between its ticks. A
// program without a schedule must call vast.World.Admit or vast.World.Idle. Serve returns a [*ListenError] if
// it cannot listen at the address.
func Serve(ctx context.Context, w *vast.World, o Options) (*Inspector, error) {
	if w == nil {
		panic("inspect: Serve: the world is nil")
	}
	o = o.withDefaults()
	in := &Inspector{
		world: w, options: o, views: newViewCache(o.Views),
		looking: make(chan struct{}, maxLooking), streams: make(chan struct{}, maxStreams),
		records: make(chan struct{}, maxRecording), running: make(chan struct{}, maxStatements),
		ended: make(chan struct{}),
	}
	in.sampler = newSampler(w, in.mainSchedule, in.control)
	// newRegistry and routes can panic, so they run before listen.
	in.registry = in.newRegistry()
	routes := in.routes()
	var err error
	if in.listener, err = listen(o.Addr); err != nil {
		in.sampler.close()
		return nil, err
	}
	in.guard = newGuard(o, isLoopback(in.listener.Addr()))
	ctx, in.stop = context.WithCancel(ctx)
	in.server = newServer(ctx, in.handler(routes))
	go in.serve(ctx)
	return in, nil
}

func (in *Inspector) serve(ctx context.Context) {
	defer close(in.ended)
	var shutdown sync.WaitGroup
	shutdown.Go(func() {
		<-ctx.Done()
		// The end of ctx has ended all streams and visits. The remaining requests need little time.
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if err := in.server.Shutdown(grace); err != nil {
			_ = in.server.Close()
		}
	})
	_ = in.server.Serve(in.listener)
	in.stop()
	shutdown.Wait()
	in.sampler.close()
	in.looks.Wait()
}

// Close stops the server. After Close has returned, the inspector does not use the world, and the caller may
// close the world. Close may be called on the world's goroutine, because Close ends the requests that wait
// for the world. A second Close does nothing.
func (in *Inspector) Close() error {
	in.stop()
	<-in.ended
	return nil
}

// Addr returns the address that the inspector listens at.
func (in *Inspector) Addr() net.Addr { return in.listener.Addr() }

// URL returns the address to open in a browser. If clients need the token, the URL ends with #token= and the
// token. Browsers do not send this part of a URL to any server.
func (in *Inspector) URL() string {
	u := url.URL{Scheme: "http", Host: browsable(in.listener.Addr()), Path: "/"}
	if in.options.ReadWrite || in.guard.tokenForReading {
		u.Fragment = "token=" + in.options.Token
	}
	return u.String()
}
