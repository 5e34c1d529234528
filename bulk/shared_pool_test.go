package bulk

import "testing"

// newSharedPool returns a pool that is closed at the end of the test.
func newSharedPool[T any](t testing.TB, o Options) *SharedPool[T] {
	t.Helper()
	p, err := NewSharedPool[T](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}
