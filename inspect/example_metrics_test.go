package inspect_test

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect"
)

// A program with metrics of its own adds those of its world, with or without an inspector.
func ExampleNewCollector() {
	world := vast.NewWorld(vast.Options{Name: "town"})
	registry := prometheus.NewRegistry()
	registry.MustRegister(inspect.NewCollector(world), inspect.NewMemoryCollector())
	http.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
}
