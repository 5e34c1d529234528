package inspect

import (
	"context"
	"database/sql"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vastgo/vast"
)

// Options configure [Serve]. The zero value works.
type Options struct {
	// Addr is the address to listen at, as host:port. Port 0 means any free port. Default: "127.0.0.1:0".
	Addr string
	// Hosts are additional names by which browsers may call the inspector, such as the name of a proxy in
	// front of the inspector. "localhost" and IP addresses always work. Default: none.
	Hosts []string
	// ReadWrite allows clients that have the token to edit entities and to pause the program. Default:
	// read-only.
	ReadWrite bool
	// Token is the secret that a client needs for writing. If other machines can reach the address, a client
	// needs the token for reading too. Default: a new random token of at least 128 bits. [Inspector.URL]
	// contains the token if clients need it.
	Token string
	// Names gives entities names. Default: the world's vast.Names, if the world has names.
	Names Namer
	// Control pauses, steps and resumes the program. Default: the world's running schedule, if any.
	Control Control
	// Edit carries out the edits of clients. The inspector calls Edit with an encoded edit, on the goroutine
	// of the request. Edit must hand the edit to the goroutine that owns the world, and that goroutine must
	// call [Apply] with the edit. Edit may return nil only when the edit is durable, because the inspector
	// then reports success to the client. If the program keeps its world in a store with a journal, set Edit
	// to Store.Submit, and call Apply where the program applies inputs. Default: the inspector carries out
	// the edit in a call of [vast.World.Visit].
	Edit func(ctx context.Context, edit []byte) error
	// Views are maps of the world. [Plane] makes a View. Default: none.
	Views []View
	// SQL answers the statements of the page SQL and of /api/v1/sql, and those whose entities a map shows as
	// points. vastsql.Open makes such a database. A statement counts as a read if it begins with SELECT,
	// VALUES, EXPLAIN or PRAGMA, or if it begins with WITH and contains no INSERT, UPDATE, DELETE or REPLACE
	// INTO. Every other statement needs ReadWrite, the token and a POST request. Without ReadWrite, the
	// database must not write either: for vastsql, leave Options.Write unset. Close the database after the
	// inspector. Default: no SQL page.
	SQL *sql.DB
	// Handlers answer further requests below /api/v1/. The key "arrow" is for the requests to /api/v1/arrow.
	// The inspector checks host, origin and token before it calls a handler. A handler answers GET requests,
	// which must only read, and POST requests with a JSON body, which need ReadWrite and the token. [Serve]
	// panics if a handler is nil, if a key is not made of 1 to 32 letters a to z, digits and dashes, or if
	// the inspector uses the path itself. Default: none.
	Handlers map[string]http.Handler
	// Collectors are further metrics of the program for /metrics. The inspector itself serves the metrics of
	// [NewCollector] for the world and of [NewMemoryCollector]. It also serves the metrics of the Prometheus
	// client library about Go, the build and the process. [Serve] panics if a collector is nil, if two
	// collectors have the same metric, or if a collector has a metric of the inspector. Default: none.
	Collectors []prometheus.Collector
	// Attribution credits the sources of the data, one line each, at the foot of the page. Default: none.
	Attribution []string
	// Profiling serves the program's profiles at /debug/pprof and its variables at /debug/vars. Default: off.
	Profiling bool
	// Patience is the longest time that a request waits until [vast.World.Visit] calls the inspector, or
	// until Edit returns. A request that records ticks waits for Patience times the number of ticks. Default:
	// three seconds.
	Patience time.Duration
}

// Namer gives entities names. The inspector calls the methods in [vast.World.Visit], between ticks. A method
// may read the world, and must take little time.
type Namer interface {
	// Name returns the name of an entity. It returns false for an entity without a name.
	Name(e vast.Entity) (string, bool)
	// Find returns the most important entity with a name. It returns false if no entity has the name.
	Find(name string) (vast.Entity, bool)
	// Suggest returns at most limit names that begin with prefix, the most important names first.
	Suggest(prefix string, limit int) []Suggestion
}

// Suggestion is a name that completes a prefix.
type Suggestion struct {
	Name   string      // the whole name
	Detail string      // distinguishes entities of the same name, such as a country; may be empty
	Entity vast.Entity // the entity with this name
}

// Control pauses a program. The inspector may call the methods on several goroutines at the same time.
// *sched.Schedule implements Control: it pauses the methods Run and RunTicks.
type Control interface {
	Pause()
	Resume()
	// Step runs the given number of ticks, and pauses the program after these ticks.
	Step(ticks int)
	Paused() bool
}

func (o Options) withDefaults() Options {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.Token == "" {
		o.Token = newToken()
	}
	if o.Patience <= 0 {
		o.Patience = 3 * time.Second
	}
	return o
}

// isLoopback reports whether only this machine can reach an address.
func isLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
