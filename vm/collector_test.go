package vm

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/vastgo/vast/internal/longtest"
)

// node holds a pointer into a region that may be closed. The collector scans the nodes.
type node struct {
	next *node
	at   unsafe.Pointer
}

// TestCollectorMeetsStalePointers keeps nodes on Go's heap that point into closed regions. If Close gave the
// addresses back to the operating system, Go's heap could take them. Then the collector would end the process
// with "found bad pointer in Go heap".
func TestCollectorMeetsStalePointers(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend backend) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		stop := time.Now().Add(time.Duration(longtest.Pick(500, 1500)) * time.Millisecond)
		var opened, garbage atomic.Int64
		var wg sync.WaitGroup
		for w := range 50 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(seed, uint64(w)))
				var list *node
				for i := 0; time.Now().Before(stop) || i == 0; i++ { // at least once on a slow machine
					pages := 1 + rnd.IntN(64)
					r, err := reserveOn(backend, pages*PageSize(), Options{Name: "collector"}, origin{})
					if err == nil {
						err = r.Commit(0, r.Size())
					}
					if err != nil {
						t.Error(err)
						return
					}
					b := view(r)
					for k := 0; k < len(b); k += PageSize() {
						b[k] = byte(w)
						list = &node{list, unsafe.Pointer(&b[k])}
					}
					for k := 0; k < len(b); k += PageSize() {
						if b[k] != byte(w) {
							t.Errorf("goroutine %d reads %d: a region is shared", w, b[k])
						}
					}
					if err := r.Close(); err != nil {
						t.Error(err)
						return
					}
					garbage.Add(int64(len(make([]*node, 1+rnd.IntN(4000)))))
					if i%50 == w {
						runtime.GC()
					}
					if i%8 == 0 {
						list = nil
					}
					opened.Add(1)
				}
				runtime.KeepAlive(list)
			})
		}
		wg.Wait()
		t.Logf("%d regions opened and closed, %d garbage pointers made", opened.Load(), garbage.Load())
		if opened.Load() < 50 {
			t.Error("fewer than 50 regions were opened")
		}
	})
}
