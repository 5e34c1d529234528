package cluster_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"github.com/vastgo/vast/cluster"
)

// counter is a region that adds up the numbers that it receives, and sends its own number to the next region.
type counter struct {
	region, regions int
	sum             uint64
}

func (c *counter) Tick(_ uint64, received, _ [][]byte) ([][]byte, cluster.Hash, error) {
	for _, section := range received {
		if len(section) > 0 {
			c.sum += binary.LittleEndian.Uint64(section)
		}
	}
	sections := make([][]byte, c.regions)
	sections[(c.region+1)%c.regions] = binary.LittleEndian.AppendUint64(nil, uint64(c.region))
	return sections, cluster.Hash{}, nil
}

func (c *counter) Save() ([]byte, error) { return binary.LittleEndian.AppendUint64(nil, c.sum), nil }

func (c *counter) Load(state []byte) error {
	c.sum = binary.LittleEndian.Uint64(state)
	return nil
}

func (c *counter) Close() error { return nil }

// Status returns the JSON value that Node.Regions shows.
func (c *counter) Status() []byte { return fmt.Appendf(nil, `{"sum":%d}`, c.sum) }

func Example() {
	dir, err := os.MkdirTemp("", "cluster")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n, err := cluster.Join(ctx, cluster.Options{
		Name: "demo", Dir: dir, Regions: 3, Until: 11,
		New: func(region int) (cluster.Machine, error) { return &counter{region: region, regions: 3}, nil },
	})
	if err != nil {
		panic(err)
	}
	if err := n.Wait(ctx); err != nil {
		panic(err)
	}
	for _, s := range n.Regions() {
		fmt.Printf("region %d at tick %d: %s\n", s.Region, s.Tick, s.Machine)
	}
	if err := n.Close(); err != nil {
		panic(err)
	}
	// Output:
	// region 0 at tick 11: {"sum":20}
	// region 1 at tick 11: {"sum":0}
	// region 2 at tick 11: {"sum":10}
}
