package trial

import (
	"context"
	"fmt"
	"time"

	"github.com/vastgo/vast/cluster/internal/plan"
	"github.com/vastgo/vast/cluster/internal/protocol"
)

// measureCoding measures how long the owner of a region takes to encode and to decode a message.
func measureCoding(ctx context.Context, c *plan.Costs) error {
	const fewSections, manySections = 4, 256 // sections of a message
	var encode, decode, bytes [3]float64
	for i, m := range [...]struct{ sections, bytes int }{{fewSections, 0},
		{fewSections, large}, {manySections, 0}} {
		var err error
		if encode[i], decode[i], bytes[i], err = coding(ctx, m.sections, m.bytes); err != nil {
			return err
		}
	}
	c.BytesSection = (bytes[2] - bytes[0]) / (manySections - fewSections)
	c.BytesMessage = bytes[0] - fewSections*c.BytesSection
	fit := func(us [3]float64) plan.Coding {
		perByte := max(us[1]-us[0], 0) / large
		perSection := max(us[2]-us[0], 0) / (manySections - fewSections)
		return plan.Coding{Each: max(us[0]-fewSections*perSection, 0), Byte: perByte * 1000,
			Section: perSection * 1000}
	}
	c.Encode, c.Decode = fit(encode), fit(decode)
	return nil
}

func onlyVersion() []protocol.Version { return []protocol.Version{{From: 1}} }

// coding measures messages with a section for each region. The section for region 0 has the given number of
// bytes, and the other sections are empty. encode is the processor time of a region that sends a message, in
// microseconds. decode is the processor time of a region that receives a message, in microseconds. size is
// the size of a message, in bytes.
//
// All regions run the first half of the ticks, in which they receive nothing. Then region 0 runs the second
// half, and receives the messages of all regions.
func coding(ctx context.Context, regions, bytes int) (encode, decode, size float64, err error) {
	ticks := uint64(max(20, 4000/regions))
	storage := newMemory(regions)
	for region := regions - 1; region >= 0; region-- {
		m := &sender{regions: regions, bytes: bytes, half: ticks, ended: make(map[uint64]time.Duration)}
		o := protocol.Options{Region: region, Regions: regions, Lookahead: ticks, Storage: storage,
			Versions: onlyVersion, From: 1, Journal: forgetful{}, Machine: m, Every: 1 << 40, Until: ticks,
			Process: "trial", Number: uint64(region + 1)}
		if region == 0 {
			o.Until *= 2
		}
		if err := protocol.Run(ctx, o); err != nil {
			return 0, 0, 0, fmt.Errorf("the coding of messages: %w", err)
		}
		if m.err != nil {
			return 0, 0, 0, m.err
		}
		if region == 0 {
			first, second := m.ended[ticks]-m.ended[1], m.ended[2*ticks]-m.ended[ticks+1]
			counted := float64(ticks - 1)
			encode = micros(first) / counted
			decode = max(micros(second-first), 0) / counted / float64(regions)
		}
	}
	messages := storage.outboxes[0].messages
	return encode, decode, float64(len(messages[len(messages)-1])), nil
}

// sender is a machine that sends some bytes to region 0.
type sender struct {
	regions, bytes int
	half           uint64 // number of ticks in each half
	// ended has the processor times at the first and at the last tick of each half.
	ended map[uint64]time.Duration
	err   error
}

// Tick implements [protocol.Machine].
func (s *sender) Tick(tick uint64, _, _ [][]byte) ([][]byte, protocol.Hash, error) {
	if tick == 1 || tick == s.half || tick == s.half+1 || tick == 2*s.half {
		s.ended[tick], s.err = processorTime()
	}
	sections := make([][]byte, s.regions)
	sections[0] = make([]byte, s.bytes)
	return sections, protocol.Hash{}, s.err
}

// Save implements [protocol.Machine].
func (s *sender) Save() ([]byte, error) { return nil, nil }

// Load implements [protocol.Machine].
func (s *sender) Load(uint64, []byte) error { return nil }
