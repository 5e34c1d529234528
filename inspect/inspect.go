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
	looking chan struct{}  // holds a token for each visit under way
	looks   sync.WaitGroup // visits under way
	streams chan struct{}  // holds a token for each stream
	records chan struct{}  // holds a token for each request that records ticks

	registry *prometheus.Registry // what /metrics serves
	listener net.Listener
	server   *http.Server
	stop     context.CancelFunc
	ended    chan struct{}
}

// Serve starts to serve a world and returns at once. It serves until ctx ends or [Inspector.Close] is called.
// If the world is closed first, later requests that need the world get an error.
//
// The world must admit visitors (see vast.World.Visit). A sched.Schedule does so between its ticks; a program
// without a schedule calls vast.World.Admit. Serve returns a [*ListenError] if it cannot listen at the
// address.
func Serve(ctx context.Context, w *vast.World, o Options) (*Inspector, error) {
	if w == nil {
		panic("inspect: Serve: the world is nil")
	}
	o = o.withDefaults()
	in := &Inspector{
		world: w, options: o, views: newViewCache(o.Views),
		looking: make(chan struct{}, maxLooking), streams: make(chan struct{}, maxStreams),
		records: make(chan struct{}, maxRecording), ended: make(chan struct{}),
	}
	in.sampler = newSampler(w, in.mainSchedule, in.control)
	in.registry = in.newRegistry() // before it listens, because collectors that cannot be registered panic
	var err error
	if in.listener, err = listen(o.Addr); err != nil {
		in.sampler.close()
		return nil, err
	}
	in.guard = newGuard(o, isLoopback(in.listener.Addr()))
	ctx, in.stop = context.WithCancel(ctx)
	in.server = newServer(ctx, in.handler(in.routes()))
	go in.serve(ctx)
	return in, nil
}

// serve serves until the context ends.
func (in *Inspector) serve(ctx context.Context) {
	defer close(in.ended)
	var shutdown sync.WaitGroup
	shutdown.Go(func() {
		<-ctx.Done()
		// Streams and visits end with the context; the rest takes little time.
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

// Close stops serving. It returns when the inspector no longer uses the world, so that the world may be
// closed. Close may be called on the world's goroutine, because it ends the requests that wait for the world.
// A second Close does nothing.
func (in *Inspector) Close() error {
	in.stop()
	<-in.ended
	return nil
}

// Addr returns the address that the inspector listens at.
func (in *Inspector) Addr() net.Addr { return in.listener.Addr() }

// URL returns the address to open in a browser. If a token is needed, the token is the part after #, which
// browsers do not send to any server.
func (in *Inspector) URL() string {
	u := url.URL{Scheme: "http", Host: browsable(in.listener.Addr()), Path: "/"}
	if in.options.ReadWrite || in.guard.tokenForReading {
		u.Fragment = "token=" + in.options.Token
	}
	return u.String()
}
