package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Costs are the costs of the work of a cluster. Times are in microseconds (us) or nanoseconds (ns), as the
// names in the JSON say. Sync and SyncByte are real times. All other times are processor times, or count as
// processor time (Hold). A message has a section for each region, with the travellers who depart for it.
type Costs struct {
	// Cores is the number of cores of the measured machine. Stretch is the real time of work on these cores
	// divided by its processor time. Other programs and a hypervisor make Stretch larger than 1.
	Cores   int     `json:"cores"`
	Stretch float64 `json:"stretch"`

	Tick      float64 `json:"tick_us"`           // time of a tick without travellers
	Traveller float64 `json:"tick_traveller_us"` // added for each traveller in the region
	// Divided is added to Traveller if there are several regions. Travellers are then in another order in
	// memory, which causes more cache misses.
	Divided  float64 `json:"tick_divided_us"`
	Crossing float64 `json:"tick_crossing_us"` // added for each traveller who departs or arrives
	Serial   float64 `json:"tick_serial"`      // share of a tick that only one worker runs
	Spread   float64 `json:"tick_spread"`      // standard deviation of the logarithm of a tick's time

	// Crossings is the share of the travellers who depart for another region in a tick, if there are two
	// regions. Locality says how this share grows with the number of regions: see [Costs.Departures].
	Crossings float64 `json:"crossings_of_two_regions"`
	Locality  float64 `json:"crossings_exponent"`

	BytesMessage   float64 `json:"message_bytes"`           // size of a message without sections
	BytesSection   float64 `json:"message_section_bytes"`   // size of an empty section
	BytesTraveller float64 `json:"message_traveller_bytes"` // size of a traveller in a section

	Encode  Coding  `json:"encode"`  // encoding a message, with its hashes and its record in the journal
	Decode  Coding  `json:"decode"`  // decoding a message in one of the regions that receive it
	Append  Work    `json:"append"`  // appending a message: half in the client, half in the server
	Deliver Work    `json:"deliver"` // a delivery to a process: half in the server, half in the process
	Call    float64 `json:"call_us"` // answering a request in the server, such as reading a key

	Sync float64 `json:"sync_us"` // real time of the disk for a message
	// Hold is how long a goroutine that syncs occupies its core without computing. Go's scheduler gives the
	// core to other goroutines only after this time.
	Hold        float64 `json:"sync_hold_us"`
	SyncByte    float64 `json:"sync_byte_ns"`  // real time of the disk for each byte of a message
	SyncSpread  float64 `json:"sync_spread"`   // standard deviation of the logarithm of a sync's time
	SyncsAtOnce int     `json:"syncs_at_once"` // number of streams whose syncs the disk does in parallel

	// Status and StatusTraveller are the costs of a status, without travellers and for each traveller. Once a
	// second, each region sends a status to all processes.
	Status          float64 `json:"status_us"`
	StatusTraveller float64 `json:"status_traveller_us"`
	BytesStatus     float64 `json:"status_traveller_bytes"` // size of a traveller in a status

	// State is the cost of computing a checkpoint. Store is the cost of storing one byte of a checkpoint:
	// half in the client, half in the server.
	State         Work    `json:"state"`
	Store         float64 `json:"store_byte_ns"`
	BytesPlaces   float64 `json:"state_places_bytes"`    // size of the places in all regions' checkpoints
	BytesResident float64 `json:"state_traveller_bytes"` // size of a traveller in a checkpoint
}

// Work is a cost that depends on a number of bytes: a fixed cost (Each), and a cost of each byte (Byte).
type Work struct {
	Each float64 `json:"each_us"`
	Byte float64 `json:"byte_ns"`
}

// Coding is a cost that depends on the size of a message and on the number of its sections.
type Coding struct {
	Each    float64 `json:"each_us"`
	Byte    float64 `json:"byte_ns"`
	Section float64 `json:"section_ns"`
}

// Of returns the cost for a number of bytes, in microseconds.
func (w Work) Of(bytes float64) float64 { return w.Each + w.Byte*bytes/1000 }

// Of returns the cost of a message, in microseconds.
func (c Coding) Of(bytes float64, sections int) float64 {
	return c.Each + c.Byte*bytes/1000 + c.Section*float64(sections)/1000
}

// StatusOf returns the cost of the status of a region with a number of travellers, in microseconds.
func (c *Costs) StatusOf(travellers float64) float64 { return c.Status + c.StatusTraveller*travellers }

// TravellerOf returns the cost of a traveller in a tick, in microseconds, without departures and arrivals.
func (c *Costs) TravellerOf(regions int) float64 {
	if regions < 2 {
		return c.Traveller
	}
	return c.Traveller + c.Divided
}

// Departures returns the share of the travellers who depart for another region in a tick. For n regions, the
// share is
//
//	Crossings × (1 − n^−Locality) / (1 − 2^−Locality)
//
// A Locality of 1 means that all regions are equally likely destinations. A smaller Locality means that
// travellers prefer near places.
func (c *Costs) Departures(regions int) float64 {
	if regions < 2 {
		return 0
	}
	n := float64(regions)
	if math.Abs(c.Locality) < 1e-6 {
		return c.Crossings * math.Log2(n)
	}
	return c.Crossings * (1 - math.Pow(n, -c.Locality)) / (1 - math.Pow(2, -c.Locality))
}

// Read reads costs that [Costs.Write] has written.
func Read(r io.Reader) (*Costs, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	c := &Costs{}
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("reading the costs: %w", err)
	}
	return c, c.check()
}

// Write writes the costs as JSON.
func (c *Costs) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(c)
}

func (c *Costs) check() error {
	if c.Cores < 1 || !(c.Stretch > 0) || c.SyncsAtOnce < 1 {
		return fmt.Errorf("the costs have %d cores, the stretch %v and %d syncs at a time: all must be "+
			"more than 0", c.Cores, c.Stretch, c.SyncsAtOnce)
	}
	if c.Serial < 0 || c.Serial > 1 {
		return fmt.Errorf("the costs have the serial share %v: use 0 to 1", c.Serial)
	}
	for _, v := range []float64{c.Tick, c.Traveller, c.Divided, c.Crossing, c.Spread, c.Crossings,
		c.BytesMessage, c.BytesSection, c.BytesTraveller, c.Encode.Each, c.Encode.Byte, c.Encode.Section,
		c.Decode.Each, c.Decode.Byte, c.Decode.Section, c.Append.Each, c.Append.Byte, c.Deliver.Each,
		c.Deliver.Byte, c.Call, c.Sync, c.Hold, c.Status, c.StatusTraveller, c.BytesStatus, c.SyncByte,
		c.SyncSpread, c.State.Each, c.State.Byte, c.Store, c.BytesPlaces, c.BytesResident} {
		if !(v >= 0) {
			return errors.New("the costs have a value below 0")
		}
	}
	return nil
}

func microseconds(us float64) time.Duration { return time.Duration(us * float64(time.Microsecond)) }
