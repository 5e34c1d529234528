// Packets reads length-prefixed packets from a TCP connection and parses them in place:
//
//	go run ./examples/packets
//
// A connection delivers bytes in pieces of any size, so a program must keep received bytes until a packet is
// complete. The article "Virtual Memory Tricks" (Niklas Gray, 2017) describes a gapless ring buffer for this
// purpose.
//
//   - One goroutine reads from the connection directly into a ring.Ring.
//   - Another goroutine peeks at a packet's length, then at the whole packet, and reads its fields in the
//     memory of the ring. It copies nothing, even if a packet crosses the ring's end.
//   - If a broken or hostile peer sends an invalid length, the program closes the connection and reports an
//     error.
//   - If a peer disconnects in the middle of a packet, the program reports an error.
//
// The packets come from this process, over loopback, in pieces of random size. The output is the same in
// every run.
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

// A packet consists of a length (4 bytes), a kind (1 byte), a sequence number (4 bytes), the payload, and a
// checksum of kind, number and payload (4 bytes). The length is the number of the bytes after the length
// field. Numbers are big-endian.
const (
	bytesLength = 4
	bytesFixed  = 1 + 4 + 4 // kind, number and checksum
	maxPayload  = 20_000

	// Offsets from the end of the length field.
	kindAt    = 0
	numberAt  = 1
	payloadAt = 5
)

// bytesRing is the ring's capacity. The ring has room for three packets of maximum size, so that it can
// receive a packet while another packet is parsed.
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

// packets returns the bytes of n packets. It returns the same bytes in each call.
func packets(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b []byte
	for i := range n {
		payload := make([]byte, rnd.IntN(200))
		if i%100 == 0 {
			payload = make([]byte, rnd.IntN(maxPayload))
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

// counts are sums over the packets of a connection.
type counts struct {
	packets, payload, pings int    // payload in bytes
	checksums               uint32 // exclusive or of all checksums
}

// serve sends bytes over a connection from this process to itself, and returns the counts of the received
// packets.
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

// send sends bytes in pieces of random size, and closes the connection.
func send(conn net.Conn, b []byte) {
	defer conn.Close()
	rnd := rand.New(rand.NewPCG(3, 4))
	for len(b) > 0 {
		n := min(len(b), 1+rnd.IntN(30_000))
		if _, err := conn.Write(b[:n]); err != nil {
			return // the other side has closed the connection
		}
		b = b[n:]
	}
}

// receive reads packets until the connection ends or a packet is invalid. It closes the connection.
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
	// The goroutine may wait for the connection or for room in the ring. conn.Close ends the first wait, and
	// r.CloseWrite ends the second wait. The ring's memory must not be released before the goroutine is done.
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
		} else if number := binary.BigEndian.Uint32(p[numberAt:]); int(number) != c.packets {
			return c, fmt.Errorf("packet %d says that it is number %d", c.packets, number)
		} else {
			c.checksums ^= sum
		}
		c.packets++
		c.payload += len(body) - payloadAt
		if body[kindAt] == 3 {
			c.pings++
		}
		r.Discard(bytesLength + len(p))
	}
}

// next returns the next packet without its length. The packet stays in the ring.
func next(r *ring.Ring) ([]byte, error) {
	header, err := r.Peek(bytesLength)
	if err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(header)
	if length < bytesFixed || length > bytesFixed+maxPayload {
		return nil, fmt.Errorf("the length of a packet is %d: it must be from %d to %d", length, bytesFixed,
			bytesFixed+maxPayload)
	}
	p, err := r.Peek(bytesLength + int(length))
	if err != nil {
		return nil, err
	}
	return p[bytesLength:], nil
}
