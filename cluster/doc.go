// Package cluster runs a world that is divided into regions on several processes. A process joins with
// [Join], owns a fair share of the regions, and takes over those of processes that die. The processes share
// nothing but a NATS server with JetStream, or several. A process can have the server inside.
//
// A program gives a [Machine] for each region. A Machine is deterministic: its result follows from its
// state, from what regions have sent, and from inputs. So another process can compute the state of a region
// again from its last checkpoint and from what was sent since.
//
//   - Region: a part of the world. The number of regions never changes.
//   - Tick: one step of a region. All regions run the same ticks, not at the same moment.
//   - Section: what one tick of a region sends to one region.
//   - Lookahead: after how many ticks a section takes effect. A region is at most lookahead ticks ahead of
//     the slowest one.
//   - Input: bytes from outside for a region: see [Node.Send].
//   - Process: a program that has joined, with its folder. It keeps its name when it starts again there.
//   - Owner: the process that runs a region. A new one begins where the one before ended.
//   - Outbox: the log of what the ticks of a region have sent, on the server. It is the truth; what a process
//     has in memory is a copy.
//   - Journal: the outbox of a region on the disk of its owner. It fills up an outbox that has lost its end
//     in a power failure.
//   - Lease: how long a process may be silent before others take its regions over.
//
// A region that adds up what comes:
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
// The history of a region does not depend on processes. Whichever processes run it, however often they die,
// are paused, or lose their connection, the region runs each tick with the same sections and with each input
// exactly once, and its sections count once. Two processes may think for a moment that they own a region.
// The outbox then accepts the ticks of one of them only.
//
// While the server does not answer, the regions wait, and Options.Report is told so. They go on when it
// answers again.
//
// What a server has acknowledged and loses in a power failure comes back from the journals, when the process
// that owned the region still runs or starts again. If it is needed, an error names it. So after a power
// failure of a server and of processes, start the processes at the same time, or those first that ran last.
//
// # Limits
//
// A tick may run several times, in several processes, before its result counts. So a Machine must not act on
// anything outside. It must compute the same on all processors that the processes have: a compiler may fuse
// floating-point operations on some of them. A Machine that finds another result for a tick that has run
// stops its region with an error.
//
// The world goes on only as fast as its slowest region, and stands still until a region that has lost its
// owner has another one: about a lease, and the time to run the ticks since the last checkpoint again. When
// a process ends by [Node.Close] or after [Node.Drain], others take its regions at once. A process that
// joins gets its share one region after the other.
//
// A cluster stands still when its server does. An embedded server ends with its process. Several NATS servers
// with Options.Replicas of 3 or more go on when one of them dies. Options.Peers makes the embedded servers of
// several processes such servers.
//
// A message, which is what a tick sends to all regions together, or an input, has at most 8 MiB.
package cluster
