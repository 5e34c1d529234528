package inspect

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxScrapes bounds the number of concurrent scrapes.
const maxScrapes = 4

// newRegistry returns the inspector's own registry, which is separate from the program's registries.
// newRegistry panics if one of Options.Collectors cannot be registered.
func (in *Inspector) newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(in.sampler.collector(), NewMemoryCollector(), collectors.NewGoCollector(),
		collectors.NewBuildInfoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for i, c := range in.options.Collectors {
		if c == nil {
			panic(fmt.Sprintf("inspect: Options.Collectors[%d] is nil: leave the collector out", i))
		}
		if err := r.Register(c); err != nil {
			panic(fmt.Sprintf("inspect: Options.Collectors[%d]: %v: leave the collector out if the "+
				"inspector already has its metrics, or give its metrics other names", i, err))
		}
	}
	return r
}

// addMonitoring adds the handlers for monitoring tools, at the paths that these tools expect.
func (in *Inspector) addMonitoring(mux *http.ServeMux) {
	mux.Handle("GET /metrics", in.behindGuard(in.metricsHandler()))
	if in.options.Profiling {
		mux.Handle("/debug/pprof/", in.behindGuard(profileHandler()))
		mux.Handle("GET /debug/vars", in.behindGuard(http.HandlerFunc(in.serveVariables)))
	}
}

func (in *Inspector) behindGuard(h http.Handler) http.Handler {
	return in.handle(route{stream: true, raw: func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}})
}

func (in *Inspector) metricsHandler() http.Handler {
	answerer := promhttp.HandlerFor(in.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes, Timeout: requestTime, ErrorHandling: promhttp.HTTPErrorOnError,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// watch keeps the sampler running between scrapes. A running sampler counts all ticks, and keeps a
		// history for pages that are opened later.
		in.sampler.watch()
		answerer.ServeHTTP(w, r)
	})
}
