package plan

import (
	"errors"
	"fmt"
	"time"
)

// Setup says what a cluster consists of, and what it runs.
type Setup struct {
	Regions    int
	PerProcess int // largest number of regions of a process
	Cores      int // number of cores of each process, which has its own machine
	// Servers is the number of machines that run only a NATS server, and ServerCores is the number of cores
	// of each of these machines. If Servers is 0, each of the first Replicas processes contains a server.
	Servers, ServerCores int
	Replicas             int           // number of servers that keep each message
	RoundTrip            time.Duration // round-trip time of the network
	Bandwidth            float64       // largest number of bytes that a machine sends in a second

	Lookahead  int
	Hz         float64 // ticks a second; 0: as many as possible
	Every      int     // ticks from one checkpoint of a region to the next; 0: no checkpoints
	Travellers int     // number of travellers in all regions together
	Hot        float64 // travellers of the first region, divided by the average; the other regions are equal

	Ticks int // number of ticks to simulate
	Seed  uint64
}

// Processes returns the number of processes.
func (s *Setup) Processes() int { return (s.Regions + s.PerProcess - 1) / s.PerProcess }

// embedded reports whether the servers are inside processes.
func (s *Setup) embedded() bool { return s.Servers == 0 }

// Check returns an error for an impossible setup.
func (s *Setup) Check() error {
	switch {
	case s.Regions < 1 || s.PerProcess < 1 || s.Cores < 1:
		return fmt.Errorf("%d regions, %d regions in a process, and %d cores: use 1 or more of each",
			s.Regions, s.PerProcess, s.Cores)
	case s.Servers < 0 || s.Servers > 0 && s.ServerCores < 1:
		return fmt.Errorf("%d servers with %d cores: use 0 or more servers, and 1 or more cores",
			s.Servers, s.ServerCores)
	case s.Replicas < 1 || !s.embedded() && s.Replicas > s.Servers:
		return fmt.Errorf("%d replicas on %d servers: use 1 or more replicas, and at most one on each server",
			s.Replicas, s.Servers)
	case s.embedded() && s.Replicas > s.Processes():
		return fmt.Errorf("%d replicas in %d processes: add processes or servers", s.Replicas, s.Processes())
	case s.RoundTrip < 0 || !(s.Bandwidth > 0):
		return fmt.Errorf("a network with the round trip %v and %v bytes a second: use a round trip of 0 or "+
			"more, and more than 0 bytes a second", s.RoundTrip, s.Bandwidth)
	case s.Lookahead < 1 || s.Every < 0 || s.Travellers < 0:
		return errors.New("use a lookahead of 1 or more, and no negative number of travellers or of ticks " +
			"between checkpoints")
	case !(s.Hz >= 0):
		return fmt.Errorf("%v ticks a second: use 0 or more", s.Hz)
	case !(s.Hot >= 0 && s.Hot <= float64(s.Regions)):
		return fmt.Errorf("a hottest region with %v times the average of travellers: use a factor from 0 to "+
			"%d, the number of regions", s.Hot, s.Regions)
	case s.Ticks < 2:
		return fmt.Errorf("%d ticks: use 2 or more", s.Ticks)
	}
	return nil
}

func (s *Setup) travellers(region int) float64 {
	average := float64(s.Travellers) / float64(s.Regions)
	switch {
	case s.Regions == 1:
		return average
	case region == 0:
		return s.Hot * average
	}
	return average * (float64(s.Regions) - s.Hot) / float64(s.Regions-1)
}
