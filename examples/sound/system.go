package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/vastgo/vast/bulk"
)

const (
	samplesPerSecond = 48_000
	samplesPerStep   = samplesPerSecond / 100
	stepsPerReport   = 50
)

// samples is a duration or a point in time, as a number of samples.
type samples uint64

func seconds(s float64) samples { return samples(s * samplesPerSecond) }

// format is the encoding of a resource's data.
type format uint32

const (
	plain format = iota
	compressed
)

func (f format) String() string { return [...]string{"plain", "compressed"}[f] }

// resource is the data of a sound that can be played.
type resource struct {
	name   uint32 // index into system.names; a Pool holds no strings, because they have Go pointers
	format format
	length samples
}

// sound is a playing sound.
type sound struct {
	resource bulk.Handle[resource]
	played   samples // the part of the resource that was played
	volume   float32
}

// fade changes the volume of a sound over time.
type fade struct {
	sound        bulk.Handle[sound]
	from, to     float32
	begins, ends samples // values of system.now
}

type system struct {
	resources *bulk.Pool[resource]
	sounds    *bulk.Dense[sound]
	fades     *bulk.Dense[fade]
	names     []string
	now       samples // time since the beginning
	out       io.Writer
}

// newSystem makes an empty system. The capacities may be large, because they reserve addresses and no memory.
func newSystem(out io.Writer) (*system, error) {
	s := &system{out: out}
	var err error
	s.resources, err = bulk.NewPool[resource](bulk.Options{Name: "resources", Capacity: 100_000})
	if err != nil {
		return nil, err
	}
	if s.sounds, err = bulk.NewDense[sound](bulk.Options{Name: "sounds", Capacity: 10_000}); err != nil {
		return nil, errors.Join(err, s.resources.Close())
	}
	if s.fades, err = bulk.NewDense[fade](bulk.Options{Name: "fades", Capacity: 10_000}); err != nil {
		return nil, errors.Join(err, s.sounds.Close(), s.resources.Close())
	}
	return s, nil
}

func (s *system) close() error {
	return errors.Join(s.fades.Close(), s.sounds.Close(), s.resources.Close())
}

func (s *system) say(what string, args ...any) {
	fmt.Fprintf(s.out, "%.2f s  %s\n", float64(s.now)/samplesPerSecond, fmt.Sprintf(what, args...))
}

// load, start and fade grow the container first. If Grow fails, they return an error and change nothing.
func (s *system) load(name string, f format, length samples) (bulk.Handle[resource], error) {
	if err := s.resources.Grow(1); err != nil {
		return bulk.Handle[resource]{}, err
	}
	h, _ := s.resources.Insert(resource{uint32(len(s.names)), f, length})
	s.names = append(s.names, name)
	s.say("%s is loaded: %s, %d samples", name, f, length)
	return h, nil
}

// unload removes a resource, even if a sound plays it.
func (s *system) unload(h bulk.Handle[resource]) {
	if r := s.resources.Get(h); r != nil {
		s.say("%s is unloaded", s.names[r.name])
		s.resources.Remove(h)
	}
}

func (s *system) start(h bulk.Handle[resource], volume float32) (bulk.Handle[sound], error) {
	r := s.resources.Get(h)
	if r == nil {
		return bulk.Handle[sound]{}, errors.New("the resource to be played was unloaded")
	}
	if err := s.sounds.Grow(1); err != nil {
		return bulk.Handle[sound]{}, err
	}
	s.say("%s starts", s.names[r.name])
	sh, _ := s.sounds.Insert(sound{resource: h, volume: volume})
	return sh, nil
}

// fade starts to change the volume of a sound, for at least one sample. If the sound has ended, fade does
// nothing.
func (s *system) fade(h bulk.Handle[sound], to float32, length samples) error {
	target := s.sounds.Get(h)
	if target == nil {
		return nil
	}
	if err := s.fades.Grow(1); err != nil {
		return err
	}
	s.fades.Insert(fade{sound: h, from: target.volume, to: to, begins: s.now, ends: s.now + max(length, 1)})
	return nil
}

// run advances the time in whole steps.
func (s *system) run(length samples) {
	for end := s.now + length; s.now < end; {
		s.step()
		if s.now/samplesPerStep%stepsPerReport == 0 {
			s.report()
		}
	}
}

func (s *system) step() {
	s.now += samplesPerStep
	s.mix()
	s.changeVolumes()
}

// mix advances all sounds by one step. The loop begins at the end: the sound that moves into the place of a
// removed sound was already advanced.
func (s *system) mix() {
	all := s.sounds.Slice()
	for i := len(all) - 1; i >= 0; i-- {
		p := &all[i]
		r := s.resources.Get(p.resource)
		if r == nil {
			s.say("a sound is cut off: its resource is gone")
			s.sounds.Remove(s.sounds.HandleAt(i))
			continue
		}
		if p.played += samplesPerStep; p.played >= r.length {
			s.say("%s has ended", s.names[r.name])
			s.sounds.Remove(s.sounds.HandleAt(i))
		}
	}
}

// changeVolumes applies the fades. It removes fades that are done, and fades whose sound is gone.
func (s *system) changeVolumes() {
	all := s.fades.Slice()
	for i := len(all) - 1; i >= 0; i-- {
		f := &all[i]
		target := s.sounds.Get(f.sound)
		if target == nil {
			s.say("a fade finds its sound gone, at %d%% of its way", 100*(s.now-f.begins)/(f.ends-f.begins))
			s.fades.Remove(s.fades.HandleAt(i))
			continue
		}
		way := min(1, float32(s.now-f.begins)/float32(f.ends-f.begins))
		target.volume = f.from + (f.to-f.from)*way
		if s.now >= f.ends {
			s.say("a fade is done, at volume %.2f", target.volume)
			s.fades.Remove(s.fades.HandleAt(i))
		}
	}
}

func (s *system) report() {
	var volume float32
	for _, p := range s.sounds.Slice() {
		volume += p.volume
	}
	s.say("%d sounds, %d fades, volume %.2f", s.sounds.Len(), s.fades.Len(), volume)
}
