package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Send sends a message to a region: WorldOptions.Received gets it there lookahead ticks later, as entities
// that travel arrive. The messages of a tick to a region keep their order. A region may send messages to
// itself. Send copies the message.
//
// One goroutine at a time may call Send, while WorldOptions.Arrived, Received or Tick runs. Send panics at any
// other time, and if there is no region to. All that a tick sends, entities and messages, has at most 8 MiB.
// Complexity: that of copying the message.
func (w *World) Send(to int, message []byte) {
	if !w.sending {
		panic("cluster: World.Send: call it while WorldOptions.Arrived, Received or Tick runs: at any other " +
			"time, the message would not be a part of a tick")
	}
	if to < 0 || to >= w.o.Regions {
		panic(fmt.Sprintf("cluster: World.Send: there is no region %d: name a region from 0 to %d", to,
			w.o.Regions-1))
	}
	b := binary.AppendUvarint(w.messages[to], uint64(len(message)))
	w.messages[to] = append(b, message...)
}

// handOut hands the messages of a region to the program.
func (w *World) handOut(from int, messages [][]byte) error {
	if len(messages) == 0 {
		return nil
	}
	if w.o.Received == nil {
		return errors.New("there is no function for messages: set WorldOptions.Received in all regions to " +
			"which regions send messages")
	}
	return w.o.Received(from, messages)
}

// section is what a tick of a region sends to one region. It is encoded as the number of bytes of the
// messages, the messages, each with its number of bytes, and the parcel. Without messages and entities there
// are no bytes at all.
type section struct {
	messages [][]byte
	parcel   []byte // of store.Packer, or empty
}

// appendMessages appends the encoded messages of a section. The parcel follows.
func appendMessages(b, messages []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(messages))), messages...)
}

// errSection is the error of bytes that are no section.
var errSection = errors.New("the section is damaged: a message is longer than the bytes for it")

// splitSection decodes a section. Its parts lie in b.
func splitSection(b []byte) (section, error) {
	if len(b) == 0 {
		return section{}, nil
	}
	messages, parcel, err := cutBytes(b)
	s := section{parcel: parcel}
	for len(messages) > 0 && err == nil {
		var m []byte
		m, messages, err = cutBytes(messages)
		s.messages = append(s.messages, m)
	}
	return s, err
}

// cutBytes cuts the bytes that follow their number from b.
func cutBytes(b []byte) (first, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, errSection
	}
	end := size + int(n)
	return b[size:end:end], b[end:], nil
}
