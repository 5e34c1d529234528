package bench

import "unsafe"

// element is what all containers hold: 40 bytes, the Transform of "Virtual Arrays for Virtual Worlds" (3dverse).
type element struct {
	position vector
	rotation quaternion
	scale    vector
}

type vector struct{ x, y, z float32 }

type quaternion struct{ x, y, z, w float32 }

const bytesElement = int(unsafe.Sizeof(element{}))

func bytesElements(n int) int { return n * bytesElement }

// numbered returns the element that is put in as number i. The works that append write the same as a literal in their
// loops, as programs do: an argument that an inlined function returns is copied once more.
func numbered(i int) element { return element{position: vector{float32(i), 1, 2}} }
