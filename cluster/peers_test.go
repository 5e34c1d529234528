package cluster

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/longtest"
)

func freeAddresses(t *testing.T, n int) (addresses []string) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses
}

func TestPeers(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	const every = 20
	w := newWorld(3, 200)
	w.slow.Store(int64(50 * time.Millisecond))
	peers := freeAddresses(t, 3)
	var options []Options
	for _, route := range peers {
		o := w.options(t, "")
		o.Listen, o.Route, o.Peers = "127.0.0.1:0", route, peers
		o.Every, o.Lease = every, time.Second
		options = append(options, o)
	}

	nodes, errs := make([]*Node, 3), make([]error, 3)
	joined := make(chan int)
	for i, o := range options {
		go func() {
			nodes[i], errs[i] = tryJoin(t, o)
			joined <- i
		}()
		if i == 0 {
			select {
			case <-joined:
				t.Errorf("Join has returned %v without the other servers", errs[0])
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
	for range nodes {
		if i := <-joined; errs[i] != nil {
			t.Fatalf("node %d: %v", i, errs[i])
		}
	}
	if o := &nodes[2].o; o.Replicas != 3 {
		t.Errorf("%d replicas by default, want 3", o.Replicas)
	}
	until(t, "the nodes share the regions", func() bool {
		return slices.Equal(loads(nodes...), []int{1, 1, 1}) && least(nodes[0]) > every
	})
	began := time.Now()
	if err := nodes[0].kill(); err != nil {
		t.Fatal(err)
	}
	tick := least(nodes[1])
	until(t, "all regions run without the dead node", func() bool {
		return !slices.ContainsFunc(nodes[1].Regions(), func(s Status) bool {
			return s.Process == nodes[0].Process() || s.Tick <= tick
		})
	})
	t.Logf("all regions ran again %v after a node and its server died", time.Since(began))
	again := join(t, options[0])
	if again.Process() != nodes[0].Process() {
		t.Errorf("the process that started again is %s, want %s", again.Process(), nodes[0].Process())
	}
	until(t, "the node that started again has a region", func() bool { return loads(again)[0] > 0 })
	if tick := least(again); tick >= w.until {
		t.Fatal("the world ended before the node had started again")
	}
	w.slow.Store(0)
	wait(t, nodes[1], nodes[2], again)
	for _, s := range again.Regions() {
		if s.Tick != w.until || strings.Contains(s.Waiting, "waiting") {
			t.Errorf("in the end, a region is %+v, want tick %d and no waiting", s, w.until)
		}
	}
	closeAll(t, again, nodes[1], nodes[2])
	w.check(t, 2, nil)
}
