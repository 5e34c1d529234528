package main

import (
	"io"
	"strings"
	"testing"

	"github.com/vastgo/vast/vm"
)

const scene = `0.00 s  music is loaded: compressed, 2880000 samples
0.00 s  rain is loaded: compressed, 1440000 samples
0.00 s  door is loaded: plain, 24000 samples
0.00 s  music starts
0.00 s  rain starts
0.50 s  2 sounds, 1 fades, volume 0.70
1.00 s  a fade is done, at volume 0.80
1.00 s  2 sounds, 0 fades, volume 1.10
1.00 s  door starts
1.50 s  door has ended
1.50 s  a fade finds its sound gone, at 25% of its way
1.50 s  2 sounds, 0 fades, volume 1.10
2.00 s  2 sounds, 0 fades, volume 1.10
2.00 s  rain is unloaded
2.01 s  a sound is cut off: its resource is gone
2.50 s  1 sounds, 1 fades, volume 0.60
3.00 s  1 sounds, 1 fades, volume 0.40
3.50 s  a fade is done, at volume 0.20
3.50 s  1 sounds, 0 fades, volume 0.20
4.00 s  1 sounds, 0 fades, volume 0.20
4.00 s  the end: the handle of the door's sound is valid: false, that of the tune: true
`

func TestScene(t *testing.T) {
	before := vm.Snapshot(false).Total().Reserved
	var out strings.Builder
	if err := play(&out); err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(out.String(), "\n"), strings.Split(scene, "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), out.String())
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d is %q, want %q", i+1, got[i], want[i])
		}
	}
	if after := vm.Snapshot(false).Total().Reserved; after != before {
		t.Errorf("%d bytes are reserved after the scene, %d before", after, before)
	}
}

// TestFadeLeavesTheNextSoundAlone checks that the fade of an ended sound does not change a new sound in the
// slot and at the index of the ended sound.
func TestFadeLeavesTheNextSoundAlone(t *testing.T) {
	s, err := newSystem(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	click, err := s.load("click", plain, samplesPerStep)
	if err != nil {
		t.Fatal(err)
	}
	long, err := s.load("long", plain, seconds(10))
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.start(click, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.fade(first, 0, seconds(1)); err != nil {
		t.Fatal(err)
	}
	s.now += samplesPerStep
	s.mix() // ends the click; changeVolumes has not removed the fade yet
	second, err := s.start(long, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if second.Slot() != first.Slot() || s.sounds.Index(second) != 0 || s.fades.Len() != 1 {
		t.Fatalf("the next sound has slot %d, want %d; %d fades", second.Slot(), first.Slot(), s.fades.Len())
	}
	s.changeVolumes()
	if v := s.sounds.Get(second).volume; v != 0.5 || s.fades.Len() != 0 {
		t.Errorf("the next sound has volume %v, and there are %d fades; want 0.5 and 0", v, s.fades.Len())
	}
	if err := s.fade(first, 1, seconds(1)); err != nil || s.fades.Len() != 0 {
		t.Errorf("fading an ended sound returns %v and leaves %d fades, want nil and 0", err, s.fades.Len())
	}
	s.unload(click)
	if _, err := s.start(click, 1); err == nil {
		t.Error("an unloaded resource is played")
	}
}
