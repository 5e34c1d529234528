// Package cluster runs a world that is divided into regions on several processes. A process joins with
// [Join], owns a fair share of the regions, and takes over the regions of processes that die. The processes
// share only NATS servers with JetStream, one or several. A process can have an embedded server.
//
// A program gives a [Machine] for each region. A Machine is deterministic: its result depends only on its
// state, on what regions have sent, and on inputs. So another process can compute the state of a region again
// from its last checkpoint and from what was sent since.
//
//   - Region: a part of the world. The number of regions never changes.
//   - Tick: one step of a region. All regions run the same ticks, not at the same moment.
//   - Section: what one tick of a region sends to one region.
//   - Lookahead: the number of ticks after which a section takes effect. A region is at most lookahead ticks
//     ahead of the slowest one.
//   - Input: bytes from outside for a region: see [Node.Send].
//   - Process: a program that has joined, with its folder. It keeps its name when it starts again there.
//   - Owner: the process that runs a region. A new owner continues where the last one ended.
//   - Outbox: the log of what the ticks of a region have sent, on the server. The outbox is the authority;
//     what a process has in memory is a copy.
//   - Journal: the outbox of a region on the disk of its owner. If a power failure takes the newest messages
//     from the outbox, the journal restores them.
//   - Version: the program with its Options.Build and Options.Schema. All processes run the same version;
//     Options.Upgrade replaces it at a tick on which the processes agree.
//   - Lease: how long a process may send no heartbeat before other processes take over its regions.
//
// [World] is the Machine of a region that is a vast.World: see docs/guide/regions.md. A [Remote] refers to an
// entity of any region. Other programs implement Machine themselves. A region that counts the bytes of its sections, and its inputs:
//
//	type counter struct {
//		region, regions int
//		sum             uint64
//	}
//
//	func (c *counter) Tick(_ uint64, received, inputs [][]byte) ([][]byte, cluster.Hash, error) {
//		for _, section := range received {
//			c.sum += uint64(len(section))
//		}
//		c.sum += uint64(len(inputs))
//		sections := make([][]byte, c.regions)
//		sections[(c.region+1)%c.regions] = []byte("one") // for the next region
//		return sections, cluster.Hash{}, nil
//	}
//
//	func (c *counter) Save() ([]byte, error) { return binary.LittleEndian.AppendUint64(nil, c.sum), nil }
//
//	func (c *counter) Load(state []byte) error {
//		c.sum = binary.LittleEndian.Uint64(state)
//		return nil
//	}
//
//	func (c *counter) Close() error { return nil }
//
//	func run(ctx context.Context) error {
//		n, err := cluster.Join(ctx, cluster.Options{
//			Name: "demo", Dir: "data", Listen: "127.0.0.1:4222", // or URL: "nats://127.0.0.1:4222"
//			Regions: 4, Lookahead: 2, Hz: 60,
//			New: func(region int) (cluster.Machine, error) {
//				return &counter{region: region, regions: 4}, nil
//			},
//		})
//		if err != nil {
//			return err
//		}
//		<-ctx.Done()
//		return n.Close()
//	}
//
// # Guarantees
//
// The history of a region does not depend on the processes that run it, even if they die, are suspended, or
// lose their connection. The region runs each tick with the same sections and with each input exactly once,
// and its sections count once. For a moment, two processes may both act as the owner of a region. The outbox
// then accepts the ticks of one of them only.
//
// While the server does not answer, the regions wait, and Options.Report is called. The regions go on when
// the server answers again.
//
// If a server loses acknowledged ticks in a power failure, the journal of the process that owned the region
// restores them, when this process still runs or starts again. If the region needs the process, an error
// names it. So after a power failure of a server and of processes, start all processes at the same time, or
// first those that ran last. The owner of a region that has run its last tick looks after the outbox until
// all regions have. Journals do not have inputs: a tick whose inputs are lost cannot run again. A server that
// syncs before it acknowledges, as the embedded one does by default, loses nothing.
//
// # Limits
//
// A tick may run several times, in several processes, before its result counts. So a Machine must not act on
// anything outside. It must compute the same on all processors that run the cluster: the Go compiler may fuse
// floating-point operations on some of them. If a repeated tick has another result, the region stops with an
// error.
//
// The world is as fast as its slowest region. When an owner dies, the world stands still until its regions
// have other owners: about a lease, plus the time to run the ticks since the last checkpoint again. When a
// process ends by [Node.Close] or after [Node.Drain], others take its regions at once. A process that joins
// gets its share at once, too. Regions that move in this way leave a checkpoint of their last tick, so no tick
// runs again.
//
// A cluster stands still when its server does. An embedded server ends with its process. Several NATS servers
// with Options.Replicas of 3 or more go on when one of them dies. With Options.Peers, the embedded servers of
// several processes do the same.
//
// What a tick sends to all regions together is one message. A message has at most 8 MiB; so has an input.
package cluster
