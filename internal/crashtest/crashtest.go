// Package crashtest copies the folders of stores for tests.
package crashtest

import (
	"fmt"
	"os"
	"testing"
)

// Copy returns a copy of a store's folder, as a crash of the process would leave the folder. If a checkpoint
// replaces files during the copying, Copy makes a new copy.
func Copy(t testing.TB, dir string) string {
	t.Helper()
	names := func() string {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(files)
	}
	for {
		before, copied := names(), t.TempDir()
		err := os.CopyFS(copied, os.DirFS(dir))
		if names() != before {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return copied
	}
}
