// Sound is a small sound system that keeps all its objects outside Go's heap:
//
//	go run ./examples/sound
//
// The system has three kinds of objects, from the example in "Data Structures Part 1: Bulk Data" (Niklas
// Gray). Each kind is in the container that fits its use:
//
//   - Sound resources are in a bulk.Pool. In every step, each playing sound looks up its resource. A look-up
//     goes straight to the slot, and a resource never moves. No code iterates over resources.
//   - Playing sounds are in a bulk.Dense, which keeps them contiguous while sounds start and end. Every step
//     iterates over all playing sounds. A fade finds its sound by a handle, even after the sound has moved.
//   - Fades are in a bulk.Dense, because every step iterates over all fades.
//
// A sound has a handle of its resource, and a fade has a handle of its sound. A handle has 8 bytes. A sound
// may end while a fade refers to it, and a resource may be unloaded while a sound plays it. The next look-up
// by the handle then finds that the target is gone.
//
// Time passes in steps of a fixed number of samples, so the output is the same in every run.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := play(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sound:", err)
		os.Exit(1)
	}
}

// play runs a scene of four seconds: music fades in, it rains, a door slams.
func play(out io.Writer) (err error) {
	s, err := newSystem(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	music, err := s.load("music", compressed, seconds(60))
	if err != nil {
		return err
	}
	rain, err := s.load("rain", compressed, seconds(30))
	if err != nil {
		return err
	}
	door, err := s.load("door", plain, seconds(0.5))
	if err != nil {
		return err
	}

	tune, err := s.start(music, 0)
	if err != nil {
		return err
	}
	if err := s.fade(tune, 0.8, seconds(1)); err != nil {
		return err
	}
	if _, err := s.start(rain, 0.3); err != nil {
		return err
	}
	s.run(seconds(1))

	// The door's sound takes half a second, but the fade takes two seconds.
	bang, err := s.start(door, 1)
	if err != nil {
		return err
	}
	if err := s.fade(bang, 0, seconds(2)); err != nil {
		return err
	}
	s.run(seconds(1))

	s.unload(rain) // the sound of the rain ends in the next step
	if err := s.fade(tune, 0.2, seconds(1.5)); err != nil {
		return err
	}
	s.run(seconds(2))
	s.say("the end: the handle of the door's sound is valid: %t, that of the tune: %t",
		s.sounds.Valid(bang), s.sounds.Valid(tune))
	return nil
}
