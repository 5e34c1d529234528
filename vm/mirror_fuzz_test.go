package vm

import (
	"bytes"
	"testing"
	"unsafe"
)

// FuzzMirror writes ranges anywhere in a mirror, and compares both halves with a plain slice. It decodes each
// operation from four bytes.
func FuzzMirror(f *testing.F) {
	f.Add(byte(0), []byte{0, 0, 0, 7, 255, 255, 200, 1, 127, 255, 16, 9})
	f.Fuzz(func(t *testing.T, pages byte, ops []byte) {
		for _, kind := range []Pages{PagesAuto, PagesHeap} {
			m, err := ReserveMirror((1+int(pages)%4)*PageSize(), Options{Name: "mirror", Pages: kind})
			must(t, err)
			size := m.Size()
			model, b := make([]byte, size), unsafe.Slice((*byte)(m.Base()), 2*size)
			for i := 0; i+4 <= len(ops) && i < 4*100; i += 4 {
				off := (int(ops[i])<<8 | int(ops[i+1])) * 2 * size >> 16
				n := min(int(ops[i+2])*size/255, 2*size-off)
				for k := range n {
					b[off+k], model[(off+k)%size] = ops[i+3]+byte(k), ops[i+3]+byte(k)
				}
				m.Written(off, n)
			}
			if first, second := halves(m); !bytes.Equal(first, model) || !bytes.Equal(second, model) {
				t.Fatal("the halves differ from the model")
			}
			must(t, m.Close())
		}
	})
}
