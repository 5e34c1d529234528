package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// plain runs the system with a Go slice. The layouts must give the same result.
func plain() (live int, state uint64) {
	var ps []particle
	for step := range steps {
		for i := range perStep {
			ps = append(ps, newParticle(step*perStep+i))
		}
		left := ps[:0]
		for _, p := range ps {
			p.tick()
			p.move()
			p.fade()
			if p.life > 0 {
				left = append(left, p)
			}
		}
		ps = left
	}
	for i := range ps {
		state += ps[i].state()
	}
	return len(ps), state
}

func TestOutput(t *testing.T) {
	live, state := plain()
	if live != 7231 || state != 0xd44fe4a032792b84 {
		t.Errorf("the slice gives %d particles, state %016x", live, state)
	}
	var out bytes.Buffer
	if err := show(&out); err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, l := range layouts {
		want += fmt.Sprintf("%-20s %d particles, state %016x\n", l.name, live, state)
	}
	if out.String() != want {
		t.Errorf("output:\n%swant:\n%s", &out, want)
	}
}

func TestMeasure(t *testing.T) {
	var out bytes.Buffer
	if err := measure(&out, 1000); err != nil {
		t.Fatal(err)
	}
	for _, l := range layouts {
		if !strings.Contains(out.String(), l.name+"  ") {
			t.Errorf("no line for %s in:\n%s", l.name, &out)
		}
	}
	if n := strings.Count(out.String(), "×1.0"); n < 3 {
		t.Errorf("the first layout is not compared with itself:\n%s", &out)
	}
}
