package uid

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/childtest"
	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

type ship struct{ _ [100]byte }

type crew struct{}

func TestUnique(t *testing.T) {
	const goroutines, each = 8, 20_000
	got := make([][]uint64, goroutines)
	var wait sync.WaitGroup
	for g := range got {
		wait.Go(func() {
			var s Source[ship]
			var c Source[crew]
			for i := range each {
				if i%1000 == 0 {
					if err := s.Grow(i / 10 * g); err != nil {
						t.Error(err)
					}
				}
				got[g] = append(got[g], s.New().address, c.New().address, New[ship]().address,
					New[crew]().address)
			}
		})
	}
	wait.Wait()
	all := slices.Concat(got...)
	slices.Sort(all)
	if len(all) != 4*goroutines*each || all[0] == 0 {
		t.Fatalf("%d IDs, want %d; the lowest ID is %d, want above 0", len(all), 4*goroutines*each, all[0])
	}
	if distinct := len(slices.Compact(all)); distinct != len(all) {
		t.Errorf("%d of %d IDs are equal to other IDs", len(all)-distinct, len(all))
	}
}

func TestReservedAddresses(t *testing.T) {
	id := New[ship]()
	if vm.HeapStandIn() {
		if id.address < 1<<63 {
			t.Errorf("%x may be an address", id.address)
		}
		return
	}
	within := false
	for _, r := range regions {
		base := uint64(uintptr(r.Base()))
		within = within || id.address >= base && id.address < base+uint64(r.Size())
	}
	if !within {
		t.Errorf("%x is in none of the %d reservations", id.address, len(regions))
	}
}

func TestSpanEnds(t *testing.T) {
	const small = 10_000
	s := &span{}
	first, err := take(small)
	if err != nil {
		t.Fatal(err)
	}
	s.next.Store(first)
	s.end = first + small
	before := current.Swap(s)
	defer current.Store(before)
	var wait sync.WaitGroup
	got := make([][]uint64, 4)
	for g := range got {
		wait.Go(func() {
			for range small {
				got[g] = append(got[g], New[ship]().address)
			}
		})
	}
	wait.Wait()
	all := slices.Concat(got...)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 4*small {
		t.Errorf("%d different IDs, want %d", n, 4*small)
	}
	if i, _ := slices.BinarySearch(all, first+small-1); all[i] != first+small-1 || all[i-small+1] != first {
		t.Error("the addresses of the small span were not all used")
	}
}

func TestGrow(t *testing.T) {
	var s Source[ship]
	if err := s.Grow(3 * block); err != nil {
		t.Fatal(err)
	}
	first := s.New()
	if err := s.Grow(3*block - 1); err != nil { // takes no addresses: 3*block - 1 IDs are left
		t.Fatal(err)
	}
	last := first
	for range 3*block - 1 {
		id := s.New()
		if id.Compare(last) != 1 || last.Compare(id) != -1 || id.Compare(id) != 0 {
			t.Fatalf("%v does not follow %v", id, last)
		}
		last = id
	}
	if last.address-first.address != 3*block-1 || s.next != s.end {
		t.Errorf("the %d IDs from %v to %v are not consecutive, or some are unused", 3*block, first, last)
	}
}

func TestTooMany(t *testing.T) {
	var s Source[ship]
	before := s.New()
	var e *vm.Error
	if err := s.Grow(math.MaxInt); !errors.As(err, &e) || !errors.Is(err, vm.ErrSize) ||
		!strings.Contains(err.Error(), "ask for fewer") {
		t.Errorf("got %v", err)
	}
	if after := s.New(); after.address != before.address+1 {
		t.Error("a failed Grow changed the source")
	}
	defer func() {
		if r := recover(); r != "uid: Source.Grow(-1): n is negative" {
			t.Errorf("panicked with %v", r)
		}
	}()
	_ = s.Grow(-1)
}

func TestReservationsFail(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("IDs are numbers from a counter in this build, and nothing can fail")
	}
	before := current.Load()
	defer current.Store(before)
	kept := len(regions)
	calls := faulttest.EachCall(t, func() error {
		current.Store(&span{})
		id := New[ship]() // uses another size if the first reservation fails
		if id.IsZero() {
			t.Error("the zero ID was given out")
		}
		err := regions[kept].Close() // only this test closes a reservation
		if err != nil {
			_ = regions[kept].Close()
		}
		regions = regions[:kept]
		return err
	})
	if calls < 1 {
		t.Error("no call was made to fail")
	}

	current.Store(&span{})
	usual := sizes
	sizes = []int{math.MaxInt} // vm.Reserve refuses this size
	defer func() { sizes = usual }()
	defer func() {
		e, ok := recover().(*vm.Error)
		if !ok || !errors.Is(e, vm.ErrSize) {
			t.Errorf("panicked with %v", e)
		}
		var s Source[ship]
		if err := s.Grow(1); !errors.Is(err, vm.ErrSize) || s.next != s.end {
			t.Errorf("Grow returned %v", err)
		}
	}()
	New[ship]()
}

func TestNoMemory(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("IDs are numbers from a counter in this build")
	}
	n := longtest.Pick(300_000_000, 1_000_000_000)
	if !longtest.Enabled() {
		n /= 10
	}
	New[ship]()
	count, before := len(regions), resident()
	var s Source[ship]
	for range n {
		s.New()
	}
	maxGrowth := 1_000_000
	if !childtest.Possible() {
		maxGrowth = 4_000_000 // the memory of the emulator counts, too
	}
	if grown := resident() - before; grown > maxGrowth {
		t.Errorf("%d bytes more are resident after %d IDs", grown, n)
	}
	for _, r := range regions {
		n, err := r.Resident()
		if n != 0 || err != nil || r.Committed() != 0 {
			t.Errorf("a reservation has %d resident bytes and %d committed bytes: %v", n, r.Committed(), err)
		}
	}
	if len(regions) > count+1 {
		t.Errorf("the IDs took %d reservations, want at most 1", len(regions)-count)
	}
}

// resident returns the process's resident bytes, or 0 on a system without /proc.
func resident() int {
	var size, pages int
	statm, _ := os.ReadFile("/proc/self/statm")
	_, _ = fmt.Sscan(string(statm), &size, &pages)
	return pages * os.Getpagesize()
}

func TestZero(t *testing.T) {
	var id ID[ship]
	if !id.IsZero() || New[ship]().IsZero() {
		t.Error("IsZero is false for the zero ID, or true for another ID")
	}
	if size := unsafe.Sizeof(id); size != 8 {
		t.Errorf("an ID has %d bytes", size)
	}
}

func TestProcessLocal(t *testing.T) {
	type record struct{ Owner ID[ship] }
	r := record{New[ship]()}
	was := r
	refused := func(name string, err error) {
		if !errors.Is(err, ErrLocal) {
			t.Errorf("%s returned %v", name, err)
		}
	}
	_, err := json.Marshal(r)
	refused("json.Marshal", err)
	_, err = json.Marshal(map[ID[ship]]int{r.Owner: 1})
	if err == nil || !strings.Contains(err.Error(), ErrLocal.Error()) { // json does not wrap the error
		t.Errorf("json.Marshal of a map returned %v", err)
	}
	refused("json.Unmarshal", json.Unmarshal([]byte(`{"Owner":"7f0000000000"}`), &r))
	_, err = xml.Marshal(r)
	refused("xml.Marshal", err)
	refused("gob", gob.NewEncoder(&bytes.Buffer{}).Encode(r))
	_, err = fmt.Sscan("7f0000000000", &r.Owner)
	refused("fmt.Sscan", err)
	refused("UnmarshalBinary", r.Owner.UnmarshalBinary(make([]byte, 8)))
	if r != was {
		t.Error("a failed decoding changed the ID")
	}
	if s := r.Owner.String(); s != "ship(local)" {
		t.Errorf("String is %q", s)
	}
	if s := fmt.Sprint(r.Owner); s != fmt.Sprintf("ship(local %x)", r.Owner.address) {
		t.Errorf("printed as %q", s)
	}
}
