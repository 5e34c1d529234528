// Package cluster runs a world that is divided into regions on several processes. A process joins with
// [Join], owns a fair share of the regions, and takes over the regions of processes that die. The processes
// communicate only through NATS servers with JetStream: one server, or several. A process can contain a
// server.
//
// A program makes a [Machine] for each region. A Machine is deterministic: its results depend only on its
// state, on what regions have sent, and on inputs. Another process can therefore compute the state of a
// region again. It starts from the last checkpoint of the region, and runs the ticks after this checkpoint.
//
//   - Region: a part of the world. The number of regions never changes.
//   - Tick: one step of a region. All regions run the same ticks, but not at the same time.
//   - Section: the bytes that one tick of a region sends to one region.
//   - Lookahead: the number of ticks after which a section takes effect. A region is at most lookahead ticks
//     ahead of the slowest region.
//   - Input: bytes from outside for a region: see [Node.Send].
//   - Process: a running program that has joined. A process that starts again in the same folder has the same
//     name.
//   - Owner: the process that runs a region. A new owner continues where the previous owner ended.
//   - Outbox: a log on the server with the sections that a region has sent. The outbox is the authority; what
//     a process has in memory is a copy.
//   - Journal: a copy of the outbox on the disk of the owner. If a power failure takes the newest messages
//     from the outbox, the owner restores them from the journal.
//   - Version: the program with its Options.Build and Options.Schema. All processes run the same version. An
//     upgrade replaces the version at a tick on which the processes agree: see Options.Upgrade.
//   - Lease: the time from the last heartbeat of a process until other processes take over its regions.
//
// [World] is the Machine of a region that is a vast.World: see docs/guide/regions.md. A [Remote] refers to an
// entity of any region. Programs without a vast.World implement Machine themselves. This region counts its
// inputs and the bytes of the sections that it receives:
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
// The history of a region does not depend on the processes that run it, even if processes die, are
// suspended, or lose their connection. A tick that runs again gets the same sections, each input is in
// exactly one tick, and the sections of a tick count once. For a moment, two processes may both act as the
// owner of a region. The outbox then accepts ticks of only one of the two processes.
//
// While the server does not answer, the regions wait, and Options.Report is called. The regions continue when
// the server answers again.
//
// A server may lose acknowledged ticks in a power failure. The process that owned the region then restores
// the ticks from its journal. If this process has ended, it restores the ticks when it starts again. Until
// then the region waits, and an error names the process. After a power failure of a server and of processes,
// start all processes at the same time, or start those first that ran last: their journals are the newest.
// After the last tick of a region (Options.Until), its owner still guards the outbox: it restores lost ticks
// until all regions have run their last tick. Journals do not contain inputs: a tick whose inputs are lost
// cannot run again. A server that syncs its files before each acknowledgement loses nothing. The embedded
// server syncs in this way by default.
//
// # Limits
//
// A tick may run several times, in several processes, before its result counts. A Machine must therefore have
// no effect outside of its own state. A Machine must compute the same on all processors that run the cluster.
// On some processors, the Go compiler fuses floating-point operations, which changes the results. If a
// repeated tick has another result, the region stops with an error.
//
// The world is as fast as its slowest region. When an owner dies, the world stands still until the regions of
// this owner have new owners. That takes about a lease, plus the time to run the ticks since the last
// checkpoint again. When a process ends by [Node.Close] or after [Node.Drain], other processes take its
// regions immediately. A process that joins gets its share immediately, too. In these cases the old owner
// usually leaves a checkpoint of its last tick. Then no tick runs again.
//
// A cluster stands still while its server does not run. An embedded server ends with its process. Three or
// more NATS servers with Options.Replicas of 3 or more keep running when one server dies. With Options.Peers,
// the embedded servers of three or more processes do the same.
//
// All sections that a tick sends are one message. A message or an input has at most 8 MiB.
package cluster
