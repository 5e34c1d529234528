package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Send sends a message to a region. Lookahead ticks later, WorldOptions.Received of that region gets the
// message. The messages of a tick to one region keep their order. A region may send messages to itself. Send
// copies the message.
//
// Call Send while WorldOptions.Arrived, Received or Tick runs, from one goroutine at a time. Send panics at
// any other time, and if the region does not exist. All entities and messages that a tick sends have at most
// 8 MiB together. Complexity: linear in the size of the message.
func (w *World) Send(region int, message []byte) {
	if !w.sending {
		panic("cluster: World.Send: call it while WorldOptions.Arrived, Received or Tick runs: at any " +
			"other time, the message would not be a part of a tick")
	}
	if region < 0 || region >= w.o.Regions {
		panic(fmt.Sprintf("cluster: World.Send: there is no region %d: name a region from 0 to %d", region,
			w.o.Regions-1))
	}
	b := binary.AppendUvarint(w.messages[region], uint64(len(message)))
	w.messages[region] = append(b, message...)
}

// handOut passes the messages that come from a region to WorldOptions.Received.
func (w *World) handOut(from int, messages [][]byte) error {
	if len(messages) == 0 {
		return nil
	}
	if w.o.Received == nil {
		return errors.New("there is no callback for messages: set WorldOptions.Received in all regions " +
			"that get messages")
	}
	return w.o.Received(from, messages)
}

// section has all messages and entities that a tick of a region sends to one region. The encoding consists of
// the size of all encoded messages, the encoded messages, and the parcel. An encoded message consists of its
// size and its bytes. Sizes are uvarints. The encoding of an empty section is empty.
type section struct {
	messages [][]byte
	parcel   []byte // entities that a store.Packer has packed, or empty
}

// appendMessages appends the encoded messages of a section. The caller appends the parcel.
func appendMessages(b, messages []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(messages))), messages...)
}

var errSection = errors.New("the section is damaged: it is shorter than its lengths say")

// splitSection decodes a section. The messages and the parcel share the memory of b.
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

// cutBytes reads a size and that number of bytes from b. It returns these bytes and the rest of b.
func cutBytes(b []byte) (first, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, errSection
	}
	end := size + int(n)
	return b[size:end:end], b[end:], nil
}
