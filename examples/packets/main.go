// Packets reads length-prefixed packets from a TCP connection and parses them where they lie:
//
//	go run ./examples/packets
//
// A connection gives bytes in pieces that have nothing to do with the packets in them, so what has come must be kept until
// a packet is complete. That is what "Virtual Memory Tricks" describes the gapless ring buffer for. Here
//
//   - one goroutine lets the connection write straight into a ring.Ring;
//   - another one peeks at a packet's length, then at the packet, and hands its fields on as parts of the ring's own memory:
//     nothing is copied, also where a packet goes over the ring's end;
//   - a length that no packet may have, as a broken or hostile peer would send it, ends that connection with an error;
//   - a peer that goes away in the middle of a packet is noticed.
//
// The packets come over loopback, cut at places that have nothing to do with them. What it prints is the same in every
// run.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"os"

	"github.com/vastgo/vast/ring"
)

// A packet is its length (of what follows) as 4 bytes, a kind of 1 byte, a sequence number of 4 bytes, the payload, and a
// checksum of 4 bytes over kind, number and payload. Numbers are big-endian.
const (
	bytesLength  = 4
	bytesFixed   = 1 + 4 + 4 // beside length and payload
	mostPayload  = 20_000
	bytesToKind  = 0
	bytesToCount = 1
	bytesToData  = 5
)

// bytesRing is room for more than the longest packet, so that one is received while another one is parsed.
const bytesRing = 64 << 10

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "packets:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	sent := packets(5000)
	hostile := binary.BigEndian.AppendUint32(packets(3), 4_000_000_000)
	for _, c := range []struct {
		name  string
		bytes []byte
	}{
		{"a peer that sends all", sent},
		{"a peer that goes away", sent[:len(sent)-5]},
		{"a peer that lies", append(hostile, sent...)},
	} {
		counts, err := serve(c.bytes)
		fmt.Fprintf(out, "%s: %d packets with %d bytes, %d pings, checksums %08x: %v\n",
			c.name, counts.packets, counts.payload, counts.pings, counts.checksums, err)
	}
	return nil
}

// packets returns so many packets behind each other, always the same.
func packets(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b []byte
	for i := range n {
		payload := make([]byte, rnd.IntN(200))
		if i%100 == 0 {
			payload = make([]byte, rnd.IntN(mostPayload))
		}
		for k := range payload {
			payload[k] = byte(rnd.Uint32())
		}
		b = binary.BigEndian.AppendUint32(b, uint32(bytesFixed+len(payload)))
		from := len(b)
		b = append(b, byte(i%7))
		b = binary.BigEndian.AppendUint32(b, uint32(i))
		b = append(b, payload...)
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
	}
	return b
}

// counts are what a connection's packets add up to.
type counts struct {
	packets, payload, pings int
	checksums               uint32
}

// serve sends bytes over a connection to itself and returns what the reading side made of them.
func serve(sent []byte) (c counts, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return c, err
	}
	defer listener.Close()
	peer, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return c, err
	}
	conn, err := listener.Accept()
	if err != nil {
		peer.Close()
		return c, err
	}
	go send(peer, sent)
	return receive(conn)
}

// send sends bytes, cut anywhere, and hangs up.
func send(conn net.Conn, b []byte) {
	defer conn.Close()
	rnd := rand.New(rand.NewPCG(3, 4))
	for len(b) > 0 {
		n := min(len(b), 1+rnd.IntN(30_000))
		if _, err := conn.Write(b[:n]); err != nil {
			return // the other side has had enough
		}
		b = b[n:]
	}
}

// receive reads packets until the connection ends or sends what is no packet, and closes it.
func receive(conn net.Conn) (c counts, err error) {
	r, err := ring.New(ring.Options{Name: "packets", Capacity: bytesRing})
	if err != nil {
		conn.Close()
		return c, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := r.ReadFrom(conn)
		r.CloseWithError(err)
	}()
	// First the connection, then the ring: so the goroutine is woken wherever it waits, and gone when the memory goes.
	defer func() {
		conn.Close()
		r.CloseWrite()
		<-done
		err = errors.Join(err, r.Close())
	}()
	for {
		p, err := next(r)
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		body := p[:len(p)-4]
		if sum := crc32.ChecksumIEEE(body); sum != binary.BigEndian.Uint32(p[len(body):]) {
			return c, fmt.Errorf("packet %d has a wrong checksum", c.packets)
		} else if number := binary.BigEndian.Uint32(p[bytesToCount:]); int(number) != c.packets {
			return c, fmt.Errorf("packet %d says that it is number %d", c.packets, number)
		} else {
			c.checksums ^= sum
		}
		c.packets++
		c.payload += len(body) - bytesToData
		if body[bytesToKind] == 3 {
			c.pings++
		}
		r.Discard(bytesLength + len(p))
	}
}

// next returns a whole packet behind its length. It stays in the ring.
func next(r *ring.Ring) ([]byte, error) {
	header, err := r.Peek(bytesLength)
	if err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(header)
	if length < bytesFixed || length > bytesFixed+mostPayload {
		return nil, fmt.Errorf("a packet of %d bytes is none: there are %d to %d", length, bytesFixed, bytesFixed+mostPayload)
	}
	p, err := r.Peek(bytesLength + int(length))
	if err != nil {
		return nil, err
	}
	return p[bytesLength:], nil
}
