package inspect

import (
	"net"
	"time"

	"github.com/vastgo/vast"
)

// Options say how a world is served. The zero value works.
type Options struct {
	// Addr is where to listen, as host:port. Port 0 takes a free one. Default: "127.0.0.1:0".
	Addr string
	// Hosts are the names, besides "localhost" and addresses, by which browsers may call the inspector, such as that of a
	// proxy in front of it. Default: none.
	Hosts []string
	// ReadWrite allows values to be changed, and the program to be paused, by those who have the token. Default: reading only.
	ReadWrite bool
	// Token is the secret that writing takes, and where others can reach the address everything. Default: a new one of 128 random
	// bits, part of what [Inspector.URL] returns.
	Token string
	// Names say what entities are called. Default: the world's vast.Names, if it has any.
	Names Namer
	// Control pauses, steps and resumes the program. Default: the world's schedule, if it has one.
	Control Control
	// Views are pictures of the world, such as maps: see [Plane]. Default: none.
	Views []View
	// Attribution are lines about the sources of what is shown, for the foot of the page. Default: none.
	Attribution []string
	// Profiling serves the program's profiles at /debug/pprof and its variables at /debug/vars.
	Profiling bool
	// Patience is how long to wait for the world to let the inspector look. Default: three seconds.
	Patience time.Duration
}

// Namer says what entities are called. It is called while the world lets the inspector look, so it may look at the world, and
// must take little time.
type Namer interface {
	// Name returns what an entity is called, and whether it has a name.
	Name(e vast.Entity) (string, bool)
	// Find returns the entity with the name: of several the most important.
	Find(name string) (vast.Entity, bool)
	// Suggest returns up to so many names that begin with the text, the most important first.
	Suggest(prefix string, most int) []Suggestion
}

// Suggestion is a name that may be meant.
type Suggestion struct {
	Name   string      // what [Namer.Find] finds
	Detail string      // what tells it from others, such as a country; may be empty
	Entity vast.Entity // whose it is
}

// Control pauses a program. Its methods may be called from any goroutine. A *sched.Schedule that is run by its Run is one.
type Control interface {
	Pause()
	Resume()
	// Step pauses, but for so many ticks more.
	Step(ticks int)
	Paused() bool
}

// withDefaults returns the options with what is left out filled in.
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
