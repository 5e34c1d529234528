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

// Machine is the state machine of a region. The same calls must give the same results in each process of the
// cluster. The methods are called one after the other, by one goroutine.
//
// A Machine may also have the method Status() []byte. Status returns a short JSON value for [Node.Regions].
// The goroutine that calls the other methods also calls Status: after Load, after the tick Options.Until, and
// after another tick about once in each second.
//
// A Machine may also have the method Compare(state []byte) error. Compare compares the machine with a state
// that Save has returned, and returns an error that says what differs: see [Node.Follow].
//
// A Machine may also have the method Upgraded(schema string) error. Upgraded is called after Load if an
// earlier program with another Options.Schema has made the state, or has made sections that arrive in the
// next lookahead ticks. schema is the Options.Schema of the earlier program. Ticks after the upgrade may also
// receive inputs of the earlier program.
type Machine interface {
	// Tick runs a tick; the first tick has the number 1. received[i] is the section that region i sent to
	// this region lookahead ticks earlier. received is nil in the first lookahead ticks. inputs are the
	// inputs since the previous tick, in their order. sections[i] is the section for region i; a region may
	// send to itself. state is a hash of the state: a process that runs the tick again compares the hashes.
	// state may be zero if a hash is too expensive. The Machine must change neither received nor inputs, and
	// must not change sections after it has returned them.
	Tick(tick uint64, received, inputs [][]byte) (sections [][]byte, state Hash, err error)
	// Save returns the state. The bytes are valid until the next call of Save, so a Machine may use one
	// buffer for all calls of Save. Tick must not change these bytes.
	Save() ([]byte, error)
	// Load sets the state to a state from Save, perhaps from another process. Load is called at most once,
	// before the first call of Tick.
	Load(state []byte) error
	// Close is the last call. If the region runs again in this process, it gets a new Machine.
	Close() error
}

// Options are the options of [Join]. Name, Dir, Regions and New are required.
type Options struct {
	// Name is the name of the cluster: 1 to 64 letters, digits, - and _. Clusters on one server must have
	// different names.
	Name string
	// Dir is the folder of this process. Join makes it if it does not exist. The folder holds the journals,
	// the files of the embedded server, and the name of the process in a file. One process at a time may use
	// the folder. Do not use a copy of a folder.
	Dir string

	// URL names the NATS servers; several are separated by commas. Default: a server inside this process.
	URL string
	// Listen is the host and port where the embedded server listens for other processes, such as
	// "127.0.0.1:4222". With port 0, the server chooses a free port. The server has neither passwords nor
	// encryption: every client that reaches it can read and change the cluster. With Peers, another process
	// connects to this address if its own server does not answer. Default: only this process can connect to
	// the server.
	Listen string
	// Connect has further options of the connection, such as credentials and TLS. Default: none.
	Connect []nats.Option
	// Peers joins the embedded servers of several processes, so that the cluster goes on when a server dies.
	// Peers has the host:port of each server, including the server of this process. The servers reach each
	// other at these addresses. Peers must be the same in all these processes, and have two addresses or
	// more. Three or five are best, because more than half of the servers must run. The Join that begins the
	// cluster waits until all servers run. Default: the embedded server has no peers.
	Peers []string
	// Route is the host:port at which the embedded server listens for the servers of Peers. Its host may be
	// 0.0.0.0. There are neither passwords nor encryption. Peers needs Route and Listen.
	Route string
	// Replicas is the number of NATS servers that keep each message. It takes effect when the cluster is
	// made. Default: 1 without Peers; otherwise the number of Peers, at most 3.
	Replicas int
	// SyncInterval is the time between two syncs of the embedded server's files. A power failure may lose
	// what the server acknowledged since the last sync. Default: the server syncs before each
	// acknowledgement.
	SyncInterval time.Duration

	// Regions is the number of regions of the world. All processes of a cluster must have the same number.
	Regions int
	// Lookahead is the number of ticks after which a section takes effect. A larger lookahead hides more of
	// the latency of messages. All processes of a cluster must have the same lookahead. Default: 1.
	Lookahead uint64
	// Schema describes what states, sections and inputs consist of. All processes of a cluster must have the
	// same Schema, except during an upgrade.
	Schema string
	// Build names the program. All processes must have the same Build, except during an upgrade, because a
	// tick may run again in another process. If you set Build, all programs with this Build and this Schema
	// must compute the same results, on all processors of the cluster. Default: a hash of the executable
	// file.
	Build string
	// Upgrade makes Join replace the program of a cluster, if the Build or Schema of the cluster differs from
	// that of this process. The processes agree on a tick some seconds ahead. The processes of the old
	// program run all regions up to this tick; then their Wait returns [ErrUpgraded]. The processes of the
	// new program continue from checkpoints of this tick. Start the new program while the old program runs,
	// because only the old program can run the ticks up to this tick.
	Upgrade bool
	// New returns the machine of a region in its state before the first tick. It is called by the goroutine
	// that runs the region.
	New func(region int) (Machine, error)

	// Lease is the time without a heartbeat after which other processes take over the regions of this
	// process. It is at least 100 milliseconds. Default: a second.
	Lease time.Duration
	// Observe keeps this process from owning regions. The process may follow regions: see [Node.Follow].
	Observe bool
	// Every is the number of ticks between two checkpoints of a region. Default: 60.
	Every uint64
	// Until is the last tick to run. Default: there is no last tick.
	Until uint64
	// Hz is the number of ticks of a region in a second. A tick is due at its time, or earlier if another
	// region has run this tick, so that all regions run at the same pace. A region that is late catches up on
	// at most a second of its delay. Default: as many ticks as possible.
	Hz float64
	// Report is called with errors that no call returns. For example, a message was refused, a value in the
	// key-value bucket is damaged, a region has stopped, or calls wait for the server. Several goroutines may
	// call Report at the same time. Report must return soon. Default: these errors are dropped.
	Report func(error)
}

// check sets the defaults of Lease, Lookahead and Replicas. It returns an error for options that are missing,
// contradict each other or are out of range.
func (o *Options) check() error {
	switch {
	case o.Dir == "":
		return errors.New("cluster: Options.Dir is empty: choose a folder for this process")
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
			"set Route to the address for the other servers, and Listen to the address for processes")
	case len(o.Peers) == 0 && o.Route != "":
		return errors.New("cluster: Options.Route is set, and Options.Peers is empty: set the addresses " +
			"of all embedded servers")
	case len(o.Peers) == 1:
		return errors.New("cluster: Options.Peers has one address: set the addresses of all embedded servers")
	case len(o.Peers) > 0 && o.Replicas > len(o.Peers):
		return fmt.Errorf("cluster: Options.Replicas is %d, and Options.Peers has %d addresses: "+
			"choose at most one replica for each address", o.Replicas, len(o.Peers))
	case !(o.Hz >= 0 && o.Hz <= 1e6): // also true for NaN
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

// hostPort splits an address for other processes. It returns an error if the port is not from 1 to 65535.
func hostPort(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	if port, err = strconv.Atoi(text); err == nil && (port < 1 || port > 65535) {
		err = fmt.Errorf("the port is %d, want 1 to 65535", port)
	}
	return host, port, err
}

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
