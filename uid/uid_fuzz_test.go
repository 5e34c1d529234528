package uid

import "testing"

// FuzzSources decodes each byte as one operation: the low two bits choose a source, and the other bits choose
// the call.
func FuzzSources(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x80\xff\x41\x00\x04"))
	f.Fuzz(func(t *testing.T, operations []byte) {
		var sources [4]Source[ship]
		given := make(map[ID[ship]]bool)
		for _, op := range operations {
			s := &sources[op%4]
			var id ID[ship]
			switch n := int(op / 4); {
			case n < 32:
				id = s.New()
			case n < 48:
				id = New[ship]()
			default:
				if err := s.Grow((n - 48) * 700); err != nil {
					t.Fatal(err)
				}
				if left := s.end - s.next; left < uint64(n-48)*700 {
					t.Fatalf("only %d IDs are left", left)
				}
				continue
			}
			if id.IsZero() || given[id] {
				t.Fatalf("%v is zero or was given out before", id)
			}
			given[id] = true
		}
	})
}
