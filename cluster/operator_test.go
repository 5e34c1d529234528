package cluster

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(4, 0)
	w.slow.Store(int64(2 * time.Millisecond))
	o := w.options(t, "")
	o.Listen, o.Lease = "127.0.0.1:0", 300*time.Millisecond
	a := join(t, o)
	until(t, "the first process has all regions", func() bool { return loads(a)[0] == 4 })
	second := w.options(t, a.URL())
	second.Lease = o.Lease
	b := join(t, second)
	until(t, "two processes share the regions", func() bool { return slices.Equal(loads(a, b), []int{2, 2}) })

	if _, err := Operate(deadline(t), a.URL(), "none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a cluster that does not exist: got %v, want an error with its name", err)
	}
	op, err := Operate(deadline(t), a.URL(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := op.Close(); err != nil {
			t.Error(err)
		}
	}()
	all := op.Processes()
	if len(all) != 2 || !all[0].Alive || all[0].Regions != 2 || all[0].Build == "" ||
		all[0].Build != all[1].Build || all[0].System == "" || all[0].Draining {
		t.Errorf("the processes are %+v, want two with the same Build, the first alive with 2 regions", all)
	}

	for region := range 4 {
		if err := op.Move(deadline(t), region, b.Process()); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the second process has all regions", func() bool {
		return slices.Equal(loads(a, b), []int{0, 4})
	})
	reached := least(a)
	until(t, "the regions run", func() bool { return least(a) > reached+50 })
	if l := loads(a, b); !slices.Equal(l, []int{0, 4}) {
		t.Errorf("the processes have %d regions, want 0 and 4 as after Move", l)
	}
	if err := op.Move(deadline(t), 0, "absent"); err == nil || !strings.Contains(err.Error(), "no process") {
		t.Errorf("moving to a process that does not exist: got %v, want an error", err)
	}
	if err := op.Move(deadline(t), 4, b.Process()); err == nil {
		t.Error("a region that does not exist was moved")
	}

	if err := op.Drain(deadline(t), b.Process()); err != nil {
		t.Fatal(err)
	}
	until(t, "the first process has all regions", func() bool {
		return slices.Equal(loads(a, b), []int{4, 0})
	})
	if err := op.Drain(deadline(t), a.Process()); err == nil || !strings.Contains(err.Error(), "no other") {
		t.Errorf("draining the last process: got %v, want an error", err)
	}
	if err := op.Move(deadline(t), 0, b.Process()); err == nil || !strings.Contains(err.Error(), "draining") {
		t.Errorf("moving to a draining process: got %v, want an error", err)
	}
	closeAll(t, b)
	b = join(t, second)
	reached = least(a)
	until(t, "the regions run", func() bool { return least(a) > reached+50 })
	if l := loads(a, b); !slices.Equal(l, []int{4, 0}) {
		t.Errorf("after the restart of a drained process, the processes have %d regions, want 4 and 0", l)
	}
	for region := range 4 {
		if err := op.Move(deadline(t), region, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := op.Resume(deadline(t), b.Process()); err != nil {
		t.Fatal(err)
	}
	until(t, "two processes share the regions", func() bool { return slices.Equal(loads(a, b), []int{2, 2}) })
	until(t, "no region waits", func() bool {
		for _, s := range op.Regions() {
			if s.Waiting != "" {
				return false
			}
		}
		return true
	})
	for _, s := range op.Regions() {
		if s.Failovers != 0 {
			t.Errorf("a region is %+v, want no failovers", s)
		}
	}
}

func TestDrainAfterTheLastTick(t *testing.T) {
	t.Parallel()
	w := newWorld(2, 20)
	o := w.options(t, "")
	o.Listen, o.Lease = "127.0.0.1:0", 2*time.Second
	a := join(t, o)
	until(t, "all regions have ended", func() bool { return least(a) == 20 })
	second := w.options(t, a.URL())
	second.Lease = o.Lease
	b := join(t, second)
	op, err := Operate(deadline(t), a.URL(), "test")
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the second process takes regions", func() bool { return op.takes(b.Process()) == nil })
	if err := op.Drain(deadline(t), a.Process()); err != nil {
		t.Error(err)
	}
	for _, p := range op.Processes() {
		if want := map[string]int{a.Process(): 2, b.Process(): 0}[p.Name]; p.Regions != want {
			t.Errorf("%s owns %d regions, want %d", p.Name, p.Regions, want)
		}
	}
	if err := op.Close(); err != nil {
		t.Error(err)
	}
}

// TestMoveOfFinishedRegion: a region that has run its last tick cannot move.
func TestMoveOfFinishedRegion(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 20)
	o := w.options(t, "")
	o.Listen = "127.0.0.1:0"
	a := join(t, o)
	if err := a.Wait(deadline(t)); err != nil {
		t.Fatal(err)
	}
	b := join(t, w.options(t, a.URL()))
	op, err := Operate(deadline(t), a.URL(), "test")
	if err != nil {
		t.Fatal(err)
	}
	err = op.Move(deadline(t), 0, b.Process())
	if err == nil || !strings.Contains(err.Error(), "last tick") {
		t.Errorf("Move returns the error %v, want one about the last tick", err)
	}
	if err := op.Close(); err != nil {
		t.Error(err)
	}
	closeAll(t, b, a)
}
