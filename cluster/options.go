package cluster

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/vastgo/vast/cluster/internal/storage"
)

// Hash is a hash of the state of a region.
type Hash [32]byte

// Machine is the state machine of a region. The same calls give the same results in each process of the
// cluster. Its methods are called one after the other, by one goroutine.
//
// A Machine may also have the method Status() []byte. It returns a short JSON value for [Node.Regions]. It is
// called after ticks, about once a second, and after Load, by the same goroutine.
//
// A Machine may also have the method Compare(state []byte) error. It compares the machine with a state that
// Save has returned, and returns an error that says what differs: see [Node.Follow].
//
// A Machine may also have the method Upgraded(schema string) error. It is called after Load if the state, or
// sections that arrive in the following lookahead ticks, are of a program with another Options.Schema, which
// it gets. Inputs that were sent before an upgrade, and no tick has taken yet, are of that program, too.
type Machine interface {
	// Tick runs a tick; the first one has the number 1. received has what the regions sent to this one
	// lookahead ticks before, by sender. It is nil in the first lookahead ticks. inputs are those that came
	// since the tick before, in their order. sections is what the tick sends, by receiver; the region itself
	// is one of them. state is a hash of the state, or zero if a hash is too expensive: a process that runs
	// the tick again compares the hashes. The Machine neither changes the arguments nor, later, the sections.
	Tick(tick uint64, received, inputs [][]byte) (sections [][]byte, state Hash, err error)
	// Save returns the state. The bytes are valid until the next call of Save, so a Machine may use one buffer
	// for all calls. Tick does not change them.
	Save() ([]byte, error)
	// Load sets the state to one that Save has returned, maybe in another process. It is called at most once,
	// before any tick.
	Load(state []byte) error
	// Close is the last call. If the region runs here again, it gets a new Machine.
	Close() error
}

// Options say which cluster to join, and how. Name, Dir, Regions and New are required.
type Options struct {
	// Name tells the clusters of one server apart: 1 to 64 letters, digits, - and _.
	Name string
	// Dir is the folder of this process. Join makes it if it does not exist. The folder has the name of the
	// process, its journals, and the files of the embedded server. One process at a time may use the folder.
	// Do not use a copy of it.
	Dir string

	// URL names the NATS servers; several are separated by commas. Default: a server inside this process.
	URL string
	// Listen is the host and port where the embedded server listens for other processes, such as
	// "127.0.0.1:4222"; port 0 is any free one. The server has neither passwords nor encryption: every client
	// that reaches it can read and change the cluster. With Peers, processes whose own server does not answer
	// connect here. Default: only this process reaches it.
	Listen string
	// Connect has further options of the connection, such as credentials and TLS. Default: none.
	Connect []nats.Option
	// Peers joins the embedded servers of several processes, so that the cluster goes on when one of them
	// dies. It lists the host:port at which the servers reach each other, including that of this process: two
	// addresses or more, the same in all these processes. Three or five are best, because more than half of
	// the servers must run. The first Join waits for the servers. Default: the embedded server is alone.
	Peers []string
	// Route is the host:port at which the embedded server listens for the servers of Peers. Its host may be
	// 0.0.0.0. As at Listen, there are neither passwords nor encryption. Peers needs Route and Listen.
	Route string
	// Replicas is how many NATS servers keep each message. It takes effect when the cluster is made. Default:
	// 1 without Peers; otherwise the number of Peers, at most 3.
	Replicas int
	// SyncInterval is how often the embedded server syncs its files. What it acknowledged since the last sync
	// may be lost in a power failure. Default: it syncs before each acknowledgement.
	SyncInterval time.Duration

	// Regions is how many regions the world has. All processes of a cluster have the same number.
	Regions int
	// Lookahead is the number of ticks after which a section takes effect. A larger one hides more of the
	// latency of messages. All processes of a cluster have the same one. Default: 1.
	Lookahead uint64
	// Schema describes what states, sections and inputs consist of. All processes of a cluster have the same
	// one, except during an upgrade.
	Schema string
	// Build names the program. A tick may run again in another process, so all processes have the same
	// Build. A program that sets Build promises that all programs with this Build and this Schema compute
	// the same, on all processors of the cluster. Default: a hash of the executable file.
	Build string
	// Upgrade has Join replace the program of a cluster, if its Build or Schema differs from that of this
	// process. The processes agree on a tick some seconds ahead. Those of the old program run all regions up
	// to this tick; then their Wait returns [ErrUpgraded]. Those of the new program go on from checkpoints of
	// this tick. So start the new program while the old one runs.
	Upgrade bool
	// New returns the machine of a region in its state before the first tick. It is called by the goroutine
	// that runs the region.
	New func(region int) (Machine, error)

	// Lease is how long this process may send no heartbeat before other processes take over its regions. At
	// least 100 milliseconds. Default: a second.
	Lease time.Duration
	// Observe keeps this process from owning regions. It may follow regions: see [Node.Follow].
	Observe bool
	// Every is the number of ticks between two checkpoints of a region. Default: 60.
	Every uint64
	// Until is the last tick to run. Default: no tick is the last.
	Until uint64
	// Hz is how many ticks a region runs in a second. A tick is due at its time, or when another region has
	// run it, so that all regions keep one pace. A region that is late catches up, by at most a second.
	// Default: as many as possible.
	Hz float64
	// Report is called with errors that no call returns: refused messages, damaged keys, why a region has
	// stopped, that calls wait for the server. Several goroutines may call it at once. It must return soon.
	// Default: these errors are dropped.
	Report func(error)
}

// check sets defaults, and returns an error for options that contradict each other or are out of range.
func (o *Options) check() error {
	switch {
	case o.Dir == "":
		return errors.New("cluster: Options.Dir is empty: name a folder of this process")
	case o.New == nil:
		return errors.New("cluster: Options.New is nil: it must return the machine of a region")
	case o.Regions < 1:
		return fmt.Errorf("cluster: Options.Regions is %d: a world has at least one region", o.Regions)
	case o.URL != "" && o.Listen != "":
		return errors.New("cluster: Options.URL and Options.Listen are set: there is no embedded server to " +
			"listen if URL names servers")
	case o.URL != "" && len(o.Peers) > 0:
		return errors.New("cluster: Options.URL and Options.Peers are set: there is no embedded server to " +
			"join others if URL names servers")
	case len(o.Peers) > 0 && (o.Route == "" || o.Listen == ""):
		return errors.New("cluster: Options.Peers is set, and Options.Route or Options.Listen is empty: " +
			"Route is where the embedded server listens for others, and Listen where it does for processes")
	case len(o.Peers) == 0 && o.Route != "":
		return errors.New("cluster: Options.Route is set, and Options.Peers is empty: name the addresses " +
			"of all embedded servers")
	case len(o.Peers) == 1:
		return errors.New("cluster: Options.Peers has one address: name those of all embedded servers")
	case len(o.Peers) > 0 && o.Replicas > len(o.Peers):
		return fmt.Errorf("cluster: Options.Replicas is %d, and Options.Peers has %d addresses: a "+
			"server keeps a message once", o.Replicas, len(o.Peers))
	case !(o.Hz >= 0 && o.Hz <= 1e6): // NaN, too
		return fmt.Errorf("cluster: Options.Hz is %v: choose 0 to 1,000,000", o.Hz)
	case o.Lease != 0 && o.Lease < 100*time.Millisecond:
		return fmt.Errorf("cluster: Options.Lease is %v: choose at least 100ms", o.Lease)
	}
	if o.Lease == 0 {
		o.Lease = time.Second
	}
	if o.Lookahead == 0 {
		o.Lookahead = 1
	}
	if o.Replicas == 0 {
		o.Replicas = max(1, min(3, len(o.Peers)))
	}
	return o.checkPeers()
}

func (o *Options) checkPeers() error {
	for i, peer := range o.Peers {
		if _, _, err := hostPort(peer); err != nil {
			return fmt.Errorf("cluster: Options.Peers has %q, want host:port: %w", peer, err)
		}
		if slices.Contains(o.Peers[:i], peer) {
			return fmt.Errorf("cluster: Options.Peers has %q twice", peer)
		}
	}
	if o.Route != "" {
		if _, _, err := hostPort(o.Route); err != nil {
			return fmt.Errorf("cluster: Options.Route is %q, want host:port: %w", o.Route, err)
		}
	}
	return nil
}

// hostPort splits an address that other processes use. Its port must not be 0.
func hostPort(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	if port, err = strconv.Atoi(text); err == nil && (port < 1 || port > 65535) {
		err = fmt.Errorf("port %d", port)
	}
	return host, port, err
}

// serverOptions returns the options of the embedded server of a process.
func (o *Options) serverOptions(dir, process string) (storage.ServerOptions, error) {
	s := storage.ServerOptions{Dir: dir, SyncInterval: o.SyncInterval, Name: process, Route: o.Route,
		Peers: o.Peers}
	if o.Listen == "" {
		return s, nil
	}
	host, port, err := net.SplitHostPort(o.Listen)
	if err == nil {
		s.Host = host
		s.Port, err = strconv.Atoi(port)
	}
	if err != nil {
		return s, fmt.Errorf("cluster: Options.Listen is %q, want host:port: %w", o.Listen, err)
	}
	if s.Port == 0 {
		s.Port = -1
	}
	return s, nil
}
