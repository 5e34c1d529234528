package inspect

import (
	"context"
	"encoding/json"
	"expvar"
	"fmt"
	"net/http"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"time"
)

// The inspector has its own handlers for profiles. An import of net/http/pprof would also register
// handlers on http.DefaultServeMux, which a program may serve to the public.

const (
	defaultProfileSeconds = 30
	maxProfileSeconds     = 300
)

// profileHandler serves the profiles for go tool pprof, and the trace for go tool trace. The paths are those
// of package net/http/pprof.
func profileHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/{$}", listProfiles)
	mux.HandleFunc("GET /debug/pprof/profile", func(w http.ResponseWriter, r *http.Request) {
		record(w, r, "profile", func() error { return pprof.StartCPUProfile(w) }, pprof.StopCPUProfile)
	})
	mux.HandleFunc("GET /debug/pprof/trace", func(w http.ResponseWriter, r *http.Request) {
		record(w, r, "trace", func() error { return trace.Start(w) }, trace.Stop)
	})
	mux.HandleFunc("GET /debug/pprof/{name}", writeProfile)
	mux.HandleFunc("/debug/pprof/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, notFound("there is no %s: /debug/pprof/ lists the profiles", r.URL.Path))
	})
	return mux
}

func listProfiles(w http.ResponseWriter, _ *http.Request) {
	var b strings.Builder
	b.WriteString("Profiles of this program: go tool pprof ADDRESS/debug/pprof/NAME\n\n")
	fmt.Fprintf(&b, "%8s  profile?seconds=%d\n%8s  trace?seconds=1, a file for go tool trace\n", "",
		defaultProfileSeconds, "")
	for _, p := range pprof.Profiles() {
		fmt.Fprintf(&b, "%8d  %s\n", p.Count(), p.Name())
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(b.String()))
}

func writeProfile(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	p := pprof.Lookup(name)
	if p == nil {
		fail(w, notFound("there is no profile %q: /debug/pprof/ lists the profiles", name))
		return
	}
	debug := 0
	if r.URL.Query().Get("debug") != "" {
		debug = 1
	}
	setAttachment(w, name, debug > 0)
	_ = p.WriteTo(w, debug)
}

// record writes a CPU profile or a trace. The request's parameter seconds sets the duration.
func record(w http.ResponseWriter, r *http.Request, name string, start func() error, stop func()) {
	length := defaultProfileSeconds
	if name == "trace" {
		length = 1
	}
	if text := r.URL.Query().Get("seconds"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxProfileSeconds {
			fail(w, badRequest("seconds must be a whole number from 1 to %d", maxProfileSeconds))
			return
		}
		length = n
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Duration(length)*time.Second +
		writeTime))
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	setAttachment(w, name, false)
	if err := start(); err != nil {
		w.Header().Del("Content-Disposition")
		fail(w, &problem{Status: http.StatusConflict, Code: "profiling", Message: err.Error(), Retry: length})
		return
	}
	defer stop()
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(length)*time.Second)
	defer cancel()
	<-ctx.Done()
}

func setAttachment(w http.ResponseWriter, name string, text bool) {
	if text {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(name))
}

// variables is the JSON value of the variable vast at /debug/vars.
type variables struct {
	Overview Sample `json:"overview"`
	Costs    Costs  `json:"costs"`
}

// serveVariables serves /debug/vars: the variables of package expvar and the inspector's variable vast.
func (in *Inspector) serveVariables(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTime)
	defer cancel()
	now, _, err := in.sampler.latest(ctx)
	if err != nil {
		fail(w, err)
		return
	}
	costs, err := in.sampler.costs(ctx)
	if err != nil {
		fail(w, err)
		return
	}
	own, err := json.Marshal(variables{now, costs})
	if err != nil {
		fail(w, err)
		return
	}
	all := map[string]json.RawMessage{}
	expvar.Do(func(v expvar.KeyValue) { all[v.Key] = json.RawMessage(v.Value.String()) })
	all["vast"] = own
	answer(w, http.StatusOK, all)
}
