package cluster

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestFollowers: the followers compute the same states as the owners, even after an owner has died.
func TestFollowers(t *testing.T) {
	t.Parallel()
	w := newWorld(3, 150)
	w.slow.Store(int64(5 * time.Millisecond))
	first := w.options(t, "")
	first.Listen = "127.0.0.1:0"
	a := join(t, first)
	b := join(t, w.options(t, a.URL()))
	followed := newWorld(3, 150) // makes the machines of the followers
	o := w.options(t, a.URL())
	o.New, o.Observe = followed.machine, true
	c := join(t, o)
	ctx := deadline(t)
	var wg sync.WaitGroup
	for region := range 3 {
		wg.Go(func() {
			last := uint64(0)
			err := c.Follow(ctx, region, func(m Machine, tick uint64) {
				if i := m.(*isle); tick <= last || i.region != region {
					t.Errorf("region %d runs tick %d after tick %d", i.region, tick, last)
				}
				last = tick
			})
			if err != nil || last != 150 {
				t.Errorf("region %d was followed to tick %d: %v", region, last, err)
			}
		})
	}
	until(t, "tick 50 has run", func() bool { return least(a) > 50 })
	if err := b.kill(); err != nil {
		t.Fatal(err)
	}
	wait(t, a)
	wg.Wait()
	for _, n := range loads(c)[:1] {
		if n != 0 {
			t.Errorf("the observer owns %d regions", n)
		}
	}
	closeAll(t, a, c)
	w.check(t, 2, nil)
	for r := range 3 {
		if !bytes.Equal(followed.last[r], w.last[r]) {
			t.Errorf("region %d ends with %s, and its follower with %s", r, w.last[r], followed.last[r])
		}
	}
}

func TestFollowerThatDiffers(t *testing.T) {
	t.Parallel()
	w := newWorld(2, 0)
	w.slow.Store(int64(5 * time.Millisecond))
	first := w.options(t, "")
	first.Listen = "127.0.0.1:0"
	a := join(t, first)
	o := w.options(t, a.URL())
	o.Observe = true
	machines := 0
	o.New = func(region int) (Machine, error) {
		m, err := w.machine(region)
		if machines++; machines == 1 {
			m.(*isle).People = nil
		}
		return m, err
	}
	var mu sync.Mutex
	var reports []error
	o.Report = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if !strings.Contains(err.Error(), "waiting for the server: ") { // on a busy machine
			reports = append(reports, err)
		}
	}
	b := join(t, o)
	ctx, cancel := context.WithCancelCause(deadline(t))
	enough := errors.New("enough")
	err := b.Follow(ctx, 1, func(m Machine, tick uint64) {
		if machines == 2 && tick > 30 {
			cancel(enough)
		}
	})
	if !errors.Is(err, enough) || machines != 2 {
		t.Errorf("%d machines were made, want 2; Follow returned %v", machines, err)
	}
	want := regexp.MustCompile(`has the hash .*; after tick \d+: \d+ people here, and \d+ at the owner`)
	if len(reports) != 1 || !want.MatchString(reports[0].Error()) {
		t.Errorf("the reports are %v", reports)
	}
	if err := b.Follow(ctx, 7, nil); err == nil {
		t.Error("a region that does not exist was followed")
	}
	closeAll(t, b, a)
}
