// Sound is a small sound system that keeps all its objects outside Go's heap:
//
//	go run ./examples/sound
//
// It has the three kinds of objects by which "Data Structures Part 1: Bulk Data" (Niklas Gray) explains what a system
// needs of its storage, each in the container that suits what is done with it:
//
//   - Sound resources are in a bulk.Pool. Nothing goes over all of them, but everything that plays looks its own up, in
//     every step: one access, and a resource never moves.
//   - Playing sounds are in a bulk.Dense. Every step mixes all of them, and they come and go: they lie side by side
//     whatever has ended. A fade finds its sound by a handle, wherever it has moved to.
//   - Fades are in a bulk.Dense too. Every step goes over all of them, and nobody looks one up.
//
// A sound refers to its resource, and a fade to its sound, by a handle: 8 bytes that know when their target is gone. So a
// sound may end while a fade still refers to it, and a resource may be unloaded while it plays. Nobody has to search for
// who refers to what: the fade and the sound find out by themselves.
//
// Time goes in steps of a fixed number of samples, and no clock is read: it prints the same in every run.
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

// play is four seconds of a scene: music fades in, it rains, a door falls shut.
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

	// The door falls shut in half a second, which the one who fades it out over two does not know.
	bang, err := s.start(door, 1)
	if err != nil {
		return err
	}
	if err := s.fade(bang, 0, seconds(2)); err != nil {
		return err
	}
	s.run(seconds(1))

	// The rain plays on and on until its resource is gone.
	s.unload(rain)
	if err := s.fade(tune, 0.2, seconds(1.5)); err != nil {
		return err
	}
	s.run(seconds(2))
	s.say("is over: the handle of the door's sound is good: %t, that of the tune: %t", s.sounds.Valid(bang), s.sounds.Valid(tune))
	return nil
}
