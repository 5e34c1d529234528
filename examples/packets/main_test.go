package main

import (
	"encoding/binary"
	"net"
	"strings"
	"testing"

	"github.com/vastgo/vast/vm"
)

const received = `a peer that sends all: 5000 packets with 1116613 bytes, 714 pings, checksums 99a7986a: <nil>
a peer that goes away: 4999 packets with 1116470 bytes, 714 pings, checksums 077cfaea: unexpected EOF
a peer that lies: 3 packets with 12418 bytes, 0 pings, checksums d656a804: the length of a packet is 4000000000: it must be from 9 to 20009
`

func TestPackets(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	if out.String() != received {
		t.Errorf("the output is\n%s\nwant\n%s", out.String(), received)
	}
	for _, p := range vm.Snapshot(false).Purposes {
		t.Errorf("%s still holds %+v", p.Purpose, p)
	}
}

func TestPacketsWithoutRing(t *testing.T) {
	b := packets(5000)
	if len(b) < 10*bytesRing {
		t.Errorf("%d bytes cross the ring's end too rarely", len(b))
	}
	count, payload := 0, 0
	for ; len(b) > 0; count++ {
		n := int(binary.BigEndian.Uint32(b))
		payload += n - bytesFixed
		b = b[bytesLength+n:]
	}
	if count != 5000 || payload != 1116613 {
		t.Errorf("%d packets with %d bytes", count, payload)
	}
}

func TestChangedBytes(t *testing.T) {
	good := packets(20)
	for i := range good {
		if i%97 > 5 {
			continue // of each 97 bytes, the test changes 6: some lie in headers, most in payloads
		}
		bad := append([]byte(nil), good...)
		bad[i] ^= 0x41
		here, there := net.Pipe()
		go send(there, bad)
		c, err := receive(here)
		if err == nil || c.packets >= 20 {
			t.Errorf("with byte %d wrong: %d packets, %v", i, c.packets, err)
		}
	}
}
