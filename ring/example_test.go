package ring_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/vastgo/vast/ring"
)

// The writer puts messages with their lengths into a ring. The reader parses the messages in place.
func Example() {
	r, err := ring.New(ring.Options{Capacity: 4096})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()

	go func() {
		var sent []byte
		for _, text := range []string{"one", "twelve", ""} {
			sent = binary.BigEndian.AppendUint32(sent, uint32(len(text)))
			sent = append(sent, text...)
		}
		for i := range sent {
			r.Write(sent[i : i+1])
		}
		r.CloseWrite()
	}()

	for {
		header, err := r.Peek(4)
		if err == io.EOF {
			fmt.Println("the end")
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		n := int(binary.BigEndian.Uint32(header))
		message, err := r.Peek(4 + n) // fails if the length exceeds the ring's capacity
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q\n", message[4:])
		r.Discard(4 + n)
	}
	// Output:
	// "one"
	// "twelve"
	// ""
	// the end
}

func ExampleRing_Reserve() {
	r, err := ring.New(ring.Options{Capacity: 4096})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	room, err := r.Reserve(100)
	if err != nil {
		log.Fatal(err)
	}
	r.Commit(copy(room, "written in place"))
	b, err := r.Peek(r.Len())
	fmt.Printf("%s %v\n", b, err)
	// Output: written in place <nil>
}

func ExampleEndless() {
	e, err := ring.NewEndless(ring.EndlessOptions{Capacity: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	if _, err := e.ReadFrom(strings.NewReader("all that was ever said. ")); err != nil {
		log.Fatal(err)
	}
	position, err := e.Append([]byte("the last word"))
	if err != nil {
		log.Fatal(err)
	}
	if err := e.Release(position - 5); err != nil {
		log.Fatal(err)
	}
	word, err := e.At(position+4, 4)
	fmt.Printf("%s %v\n", word, err)
	_, err = e.At(0, 3)
	fmt.Println(err)
	// Output:
	// last <nil>
	// ring: position 0 of ring.Endless: the position has been released; the oldest kept position is 19
}
