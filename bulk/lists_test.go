package bulk

import "testing"

// newLists returns lists that are closed at the end of the test.
func newLists[T any](t testing.TB, o Options) *Lists[T] {
	t.Helper()
	ls, err := NewLists[T](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ls.Close(); err != nil {
			t.Error(err)
		}
	})
	return ls
}
