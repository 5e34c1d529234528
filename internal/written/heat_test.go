package written

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

// machine simulates a kernel and a region.
type machine struct {
	sync.Mutex
	all        Range
	committed  []Range
	watcher    Watcher
	registered []bool // for each page
	protected  []bool // for each page
	absent     []bool // for each page: it has no page table, and scan skips it
	faults     int    // number of page faults
	failing    string // name of the call that fails
}

var errFailing = errors.New("the call fails")

const firstBlock = 1000 // number of the region's first block

func newMachine(blocks int) (*machine, *Watch) {
	m := &machine{all: Range{firstBlock * blockBytes, uintptr(firstBlock+blocks) * blockBytes},
		registered: make([]bool, blocks*perBlock), protected: make([]bool, blocks*perBlock),
		absent: make([]bool, blocks*perBlock)}
	m.committed = []Range{m.all}
	return m, &Watch{regions: m, kernel: m}
}

func (m *machine) Watchable(addr uintptr) Region {
	if addr < m.all.Lo || addr >= m.all.Hi {
		return nil
	}
	return m
}

func (m *machine) HeapStandIn() bool { return false }

func (m *machine) Addresses() Range { return m.all }

func (m *machine) Committed(into []Range) []Range { return append(into, m.committed...) }

func (m *machine) SetWatcher(w Watcher) bool {
	m.watcher = w
	return true
}

func (m *machine) page(p uintptr) int { return int((p - m.all.Lo) >> pageShift) }

func (m *machine) each(call string, of Range, f func(page int)) error {
	for p := of.Lo; p < of.Hi; p += 1 << pageShift {
		if m.failing == call && p >= (of.Lo+of.Hi)/2 {
			return errFailing
		}
		f(m.page(p))
	}
	return nil
}

func (m *machine) register(of Range) error {
	return m.each("register", of, func(p int) { m.registered[p] = true })
}

func (m *machine) unregister(of Range) error {
	return m.each("unregister", of, func(p int) { m.registered[p], m.protected[p] = false, false })
}

func (m *machine) protect(of Range) error {
	return m.each("protect", of, func(p int) { m.protected[p] = true })
}

func (m *machine) unprotect(of Range) error {
	return m.each("unprotect", of, func(p int) { m.protected[p] = false })
}

// scan returns at most three ranges.
func (m *machine) scan(of Range) (found []answer, end uintptr, err error) {
	for p := of.Lo; p < of.Hi; p += 1 << pageShift {
		i := m.page(p)
		if !m.registered[i] || m.failing == "scan" && p >= (of.Lo+of.Hi)/2 {
			return nil, 0, errFailing
		}
		if m.protected[i] || m.absent[i] {
			continue
		}
		if last := len(found) - 1; last >= 0 && found[last].end == uint64(p) {
			found[last].end += 1 << pageShift
		} else if len(found) == 3 {
			return found, p, nil
		} else {
			found = append(found, answer{start: uint64(p), end: uint64(p) + 1<<pageShift})
		}
		m.protected[i] = true
	}
	return found, of.Hi, nil
}

func (m *machine) written(of Range) (found bool, err error) {
	err = m.each("written", of, func(p int) { found = found || !m.protected[p] && !m.absent[p] })
	return found, err
}

func (m *machine) close() error { return nil }

func (m *machine) write(block, pages int) {
	for i := block * perBlock; i < block*perBlock+pages; i++ {
		m.absent[i] = false
		if m.protected[i] {
			m.protected[i] = false
			m.faults++
		}
	}
}

var perBlock = blockBytes >> pageShift

// changedPages returns the numbers of a block's pages that may have been written.
func changedPages(t *testing.T, w *Watch, block int) (numbers []int) {
	t.Helper()
	lo := uintptr(firstBlock+block) * blockBytes
	runs, known := w.changed(Range{lo, lo + blockBytes}, nil)
	if !known {
		t.Fatal("the block cannot be watched")
	}
	for _, r := range runs {
		for off := r.Offset; off < r.Offset+r.Bytes; off += 1 << pageShift {
			numbers = append(numbers, off>>pageShift)
		}
	}
	return numbers
}

func (m *machine) isProtected(w *Watch, block int) bool {
	r := w.watched[0]
	return r.blocks[block].protected
}

// TestHeat: hot blocks become loose (not protected), and cold blocks become protected.
func TestHeat(t *testing.T) {
	longtest.OneGoroutine(t)
	// The test writes all pages of the blocks [0, hot), and one page of each of the blocks [hot, warm).
	const blocks, hot, warm = 64, 8, 16
	m, w := newMachine(blocks)
	for b := range blocks {
		if n := len(changedPages(t, w, b)); n != perBlock {
			t.Fatalf("block %d: at first %d pages are reported, want %d", b, n, perBlock)
		}
	}
	interval := func(hot, warm int) (faults int) {
		m.faults = 0
		for b := range hot {
			m.write(b, perBlock)
		}
		for b := hot; b < warm; b++ {
			m.write(b, 1)
		}
		w.Scan()
		for b := range blocks {
			want := 0
			if b < hot || !m.isProtected(w, b) || w.watched[0].blocks[b].trial {
				want = perBlock
			} else if b < warm {
				want = 1
			}
			if got := len(changedPages(t, w, b)); got != want {
				t.Fatalf("block %d: %d pages are reported, want %d", b, got, want)
			}
		}
		w.Keep()
		return m.faults
	}
	most := 0
	for range 40 {
		most = max(most, interval(hot, warm))
	}
	if limit := 3 * perBlock; most > limit {
		t.Errorf("%d page faults in one of the first intervals, want at most %d", most, limit)
	}
	total, tries := 0, 0
	for range 128 {
		total += interval(hot, warm)
		for b := range blocks {
			if b < hot {
				if m.isProtected(w, b) {
					tries++
				}
			} else if !m.isProtected(w, b) {
				t.Fatalf("block %d is loose", b)
			}
		}
	}
	if most := 128*(warm-hot) + 2*hot*perBlock*128/maxCooldown; total > most {
		t.Errorf("%d page faults in 128 intervals, want at most %d", total, most)
	}
	if tries == 0 {
		t.Error("hot blocks are never tried again")
	}
	for range maxCooldown + blocks {
		interval(1, 1)
	}
	for b := 1; b < blocks; b++ {
		if !m.isProtected(w, b) {
			t.Errorf("block %d is cold and still loose", b)
		}
	}
	for i := range 3 {
		interval(blocks, blocks)
		if m.isProtected(w, blocks/2) != (i < 1) {
			t.Errorf("a cold block that was written in %d intervals is protected: %v", i+1, i >= 1)
		}
	}
}

// TestHeatOfHalf: a block is hot if at least half of its committed pages are written.
func TestHeatOfHalf(t *testing.T) {
	for _, c := range []struct {
		committed, written int
		hot                bool
	}{{perBlock, perBlock / 2, true}, {perBlock, perBlock/2 - 1, false}, {8, 4, true}, {8, 3, false},
		{8, 0, false}} {
		m, w := newMachine(1)
		m.committed = []Range{{m.all.Lo, m.all.Lo + uintptr(c.committed)<<pageShift}}
		changedPages(t, w, 0)
		w.Scan()
		for range 3 {
			m.write(0, c.written)
			w.Scan()
			w.Keep()
		}
		if got := !m.isProtected(w, 0); got != c.hot {
			t.Errorf("%d of %d committed pages are written: hot is %v, want %v", c.written, c.committed, got,
				c.hot)
		}
	}
}

// TestHeatNowAndThen: a block that is written in every second interval stays protected. A block that is
// written in two of three intervals becomes loose.
func TestHeatNowAndThen(t *testing.T) {
	for _, c := range []struct {
		period int // in intervals; the first interval of each period has no writes
		hot    bool
	}{{2, false}, {3, true}} {
		m, w := newMachine(1)
		changedPages(t, w, 0)
		w.Scan()
		loose := false
		for i := range 30 {
			if i%c.period > 0 {
				m.write(0, perBlock)
			}
			w.Scan()
			loose = loose || !m.isProtected(w, 0)
		}
		if loose != c.hot {
			t.Errorf("a block is written in %d of %d intervals and becomes loose: %v, want %v", c.period-1,
				c.period, loose, c.hot)
		}
	}
}

// TestTrialsOfColdMemory: the number of blocks that a scan puts on trial doubles from scan to scan, up to
// maxTrials.
func TestTrialsOfColdMemory(t *testing.T) {
	const blocks, all = 512, 600
	m, w := newMachine(all)
	for b := range blocks {
		changedPages(t, w, b)
	}
	scans, last := 0, 0
	for protected := 0; protected < blocks; scans++ {
		w.Scan()
		protected, _ = w.Blocks()
		if more := protected - last; more > maxTrials || scans < 3 && more != firstTrials<<scans {
			t.Errorf("scan %d puts %d blocks on trial", scans, more)
		}
		last = protected
	}
	if scans > 10 || m.faults > 0 {
		t.Errorf("%d scans and %d page faults until all blocks are protected, want at most 10 and 0", scans,
			m.faults)
	}

	// New blocks may be hot. Therefore, the first scan puts few of them on trial.
	w.Scan()
	for b := blocks; b < all; b++ {
		changedPages(t, w, b)
	}
	w.Scan()
	if protected, _ := w.Blocks(); protected > blocks+firstTrials {
		t.Errorf("%d of the new blocks are on trial", protected-blocks)
	}
}

// TestTrialsTakeTurns: all hot blocks are tried about equally often.
func TestTrialsTakeTurns(t *testing.T) {
	longtest.OneGoroutine(t)
	const blocks = 300 // all are hot
	m, w := newMachine(blocks)
	for b := range blocks {
		changedPages(t, w, b)
	}
	tried := make(map[int]int)
	for range 600 {
		m.faults = 0
		for b := range blocks {
			if m.isProtected(w, b) {
				tried[b]++
			}
			m.write(b, perBlock)
		}
		if m.faults > 4*perBlock {
			t.Fatalf("%d page faults in an interval", m.faults)
		}
		w.Scan()
	}
	least, most := 600, 0
	for b := range blocks {
		least, most = min(least, tried[b]), max(most, tried[b])
	}
	if least == 0 || most > least+8 {
		t.Errorf("the blocks have between %d and %d trials, want about equal numbers", least, most)
	}
}

// TestFailingKernel: while a call fails, all pages of its range count as written.
func TestFailingKernel(t *testing.T) {
	for _, call := range []string{"register", "unprotect", "protect", "scan"} {
		m, w := newMachine(4)
		for b := range 4 {
			changedPages(t, w, b)
		}
		w.Try(4)
		if call == "protect" {
			m.failing = call
		}
		w.Scan()
		m.failing = call
		m.watcher.Altered(m.all.Lo+blockBytes, m.all.Lo+2*blockBytes)
		m.registered[perBlock] = false
		w.Keep()
		for range 3 {
			m.write(1, 3)
			w.Scan()
			if n := len(changedPages(t, w, 1)); n != perBlock {
				t.Errorf("%s fails: %d pages are reported, want %d", call, n, perBlock)
			}
			w.Keep()
		}
		m.failing = ""
		w.Scan()
		w.Keep()
		for range 3 * maxCooldown {
			w.Scan()
			w.Keep()
		}
		m.write(1, 3)
		w.Scan()
		if n := len(changedPages(t, w, 1)); n != 3 || !m.registered[perBlock] {
			t.Errorf("%s works again: %d pages are reported, want 3; registered: %v", call, n,
				m.registered[perBlock])
		}
	}
	for _, call := range []string{"register", "unprotect"} {
		m, w := newMachine(1)
		m.failing = call
		if _, known := w.changed(Range{m.all.Lo, m.all.Lo + 1}, nil); known || m.watcher != nil {
			t.Errorf("%s fails: known is %v and the watcher %v, want false and nil", call, known, m.watcher)
		}
		if m.failing = ""; len(changedPages(t, w, 0)) != perBlock {
			t.Errorf("%s works again, and some pages of the new region are not reported", call)
		}
	}
}

// TestLostRegistration: while a page is not registered although it should be, all pages of its block count as
// written.
func TestLostRegistration(t *testing.T) {
	m, w := newMachine(2)
	changedPages(t, w, 0)
	changedPages(t, w, 1)
	w.Try(4)
	w.Scan()
	w.Keep()
	m.registered[perBlock+7] = false
	for range 2 * maxCooldown {
		w.Scan()
		if n := len(changedPages(t, w, 1)); n != perBlock && !m.registered[perBlock+7] {
			t.Fatalf("%d pages are reported while a page is not registered, want %d", n, perBlock)
		}
		w.Keep()
	}
	m.write(1, 2)
	w.Scan()
	if n := len(changedPages(t, w, 1)); n != 2 {
		t.Errorf("%d pages are reported after all pages were registered again, want 2", n)
	}
}

// TestAlteredWithoutMemory: altered pages are reported for one interval, although kernels before 6.18 do not
// report pages whose page table was freed.
func TestAlteredWithoutMemory(t *testing.T) {
	m, w := newMachine(2)
	changedPages(t, w, 0)
	w.Try(2)
	w.Scan()
	w.Keep()
	for i := range perBlock {
		m.protected[i], m.absent[i] = false, true
	}
	m.watcher.Altered(m.all.Lo, m.all.Lo+blockBytes)
	for _, want := range []int{perBlock, 0} {
		w.Scan()
		if n := len(changedPages(t, w, 0)); n != want {
			t.Errorf("%d pages are reported, want %d", n, want)
		}
		w.Keep()
	}
	m.write(0, 5)
	w.Scan()
	if n := len(changedPages(t, w, 0)); n != 5 {
		t.Errorf("%d pages are reported, want 5", n)
	}
}

// TestManyAltered: if there are more altered ranges than the list holds, the whole region counts as altered.
func TestManyAltered(t *testing.T) {
	m, w := newMachine(8)
	for b := range 8 {
		changedPages(t, w, b)
	}
	w.Try(8)
	w.Scan()
	w.Keep()
	for i := range uintptr(maxAltered + 2) {
		p := m.all.Lo + 2*(i%1000)<<pageShift
		m.watcher.Altered(p, p+1<<pageShift)
	}
	w.Scan()
	if n := len(changedPages(t, w, 7)); n != perBlock {
		t.Errorf("%d pages of the last block are reported, want %d", n, perBlock)
	}
	w.Keep()
	w.Scan()
	if n := len(changedPages(t, w, 7)); n != 0 {
		t.Errorf("%d pages of the last block are reported after the next interval, want 0", n)
	}
}

// TestPages compares the runs of a set of pages with a slice of bools.
func TestPages(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		var s pages
		want := make([]bool, maxPages)
		for range rng.IntN(12) {
			lo := rng.IntN(maxPages)
			hi := min(maxPages, lo+rng.IntN(1<<rng.IntN(10)))
			s.add(lo, hi)
			for i := lo; i < hi; i++ {
				want[i] = true
			}
		}
		lo := rng.IntN(maxPages)
		hi := lo + rng.IntN(maxPages-lo+1)
		got := make([]bool, maxPages)
		for from, to := s.next(lo, hi); from < to; from, to = s.next(to, hi) {
			if from > lo && got[from-1] {
				t.Fatalf("seed %d: two runs meet at %d, want one run", seed, from)
			}
			for i := from; i < to; i++ {
				got[i] = true
			}
		}
		if !slices.Equal(got[lo:hi], want[lo:hi]) || slices.Contains(got[:lo], true) ||
			slices.Contains(got[hi:], true) {
			t.Fatalf("seed %d: [%d, %d): %v, want %v", seed, lo, hi, got, want)
		}
	}
}
