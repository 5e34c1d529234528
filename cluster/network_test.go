package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/vastgo/vast/internal/longtest"
)

// network is a proxy between a node and the server of another node.
type network struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
}

func newNetwork(t *testing.T, url string) (n *network, proxied string) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	n = &network{t, toxiproxy.NewProxy(server, "network", "127.0.0.1:0", strings.TrimPrefix(url, "nats://"))}
	n.start()
	t.Cleanup(n.proxy.Stop)
	return n, "nats://" + n.proxy.Listen
}

func (n *network) start() {
	if err := n.proxy.Start(); err != nil {
		n.t.Fatal(err)
	}
}

// during adds faults to the network for the time d. Each fault is a toxic of toxiproxy, as JSON with %d for
// the name.
func (n *network) during(d time.Duration, faults ...string) {
	for i, fault := range faults {
		if _, err := n.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(fault, i))); err != nil {
			n.t.Fatal(err)
		}
	}
	time.Sleep(d)
	for i := range faults {
		if err := n.proxy.Toxics.RemoveToxic(context.Background(), fmt.Sprint(i)); err != nil {
			n.t.Fatal(err)
		}
	}
}

var networkFaults = []struct {
	name   string
	inject func(n *network, lease time.Duration)
}{
	{"cut", func(n *network, lease time.Duration) {
		n.proxy.Stop()
		time.Sleep(3 * lease)
		n.start()
	}},
	{"slow", func(n *network, lease time.Duration) {
		const latency = `{"name":"%%d","type":"latency","stream":%q,
			"attributes":{"latency":200,"jitter":100}}`
		n.during(4*lease, fmt.Sprintf(latency, "upstream"), fmt.Sprintf(latency, "downstream"))
	}},
	{"no answers", func(n *network, lease time.Duration) {
		n.during(3*lease, `{"name":"%d","type":"timeout","stream":"downstream"}`)
	}},
	{"no requests", func(n *network, lease time.Duration) {
		n.during(3*lease, `{"name":"%d","type":"timeout","stream":"upstream"}`)
	}},
	{"late answers", func(n *network, lease time.Duration) {
		n.during(3*lease, `{"name":"%d","type":"latency","stream":"downstream","attributes":{"latency":900}}`)
	}},
	{"flapping", func(n *network, _ time.Duration) {
		for range 10 {
			n.proxy.Stop()
			time.Sleep(100 * time.Millisecond)
			n.start()
			time.Sleep(100 * time.Millisecond)
		}
	}},
}

func TestNetworkFaults(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	w := newWorld(4, uint64(longtest.Pick(800, 5000)))
	w.slow.Store(int64(25 * time.Millisecond))
	o := w.options(t, "")
	o.Listen = "127.0.0.1:0"
	a := join(t, o)
	net, url := newNetwork(t, a.URL())
	o = w.options(t, url)
	o.Connect = []nats.Option{nats.IgnoreDiscoveredServers()}
	b := join(t, o)
	recovers := func(what string) {
		began, tick := time.Now(), least(a)
		until(t, "after "+what+", the world goes on, and both nodes have regions", func() bool {
			return slices.Min(loads(a, b)) > 0 && slices.Min(loads(b, a)) > 0 && least(a) > tick+2
		})
		t.Logf("%s: the world went on, and both nodes had regions, after %v", what, time.Since(began))
	}
	recovers("joining")
	var inputs [][]byte
	send := func(ctx context.Context, input string, sent chan<- error) {
		_, err := b.Send(ctx, 1, []byte(input))
		sent <- err
	}
	sent := make(chan error)
	inject := func(i int, input string) {
		inputs = append(inputs, []byte(input))
		go send(deadline(t), input, sent)
		networkFaults[i].inject(net, o.Lease)
		if err := <-sent; err != nil {
			t.Errorf("%s: %v", input, err)
		}
	}
	for i, fault := range networkFaults {
		inject(i, fault.name)
		recovers(fault.name)
		if i == 0 && !slices.ContainsFunc(a.Regions(), func(s Status) bool { return s.Failovers > 0 }) {
			t.Error("no region got another owner while a node was cut off for three leases")
		}
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for round := range longtest.Pick(0, 30) {
		i := r.IntN(len(networkFaults))
		inject(i, fmt.Sprint("round ", round, ": ", networkFaults[i].name))
		if r.IntN(3) == 0 { // otherwise, the next fault begins before the cluster has recovered
			recovers(fmt.Sprint("round ", round))
		}
	}
	if tick := least(a); tick >= w.until {
		t.Fatal("the world ended before all faults were injected")
	}
	w.slow.Store(0)
	wait(t, a, b)
	closeAll(t, b, a)
	w.check(t, 2, map[int][][]byte{1: inputs})
}
