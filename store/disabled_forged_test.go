package store

import (
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
)

// TestForgedDisables: a file is refused if a tag in it disables the components of a column that is missing,
// is not earlier than the tag, or is named twice.
func TestForgedDisables(t *testing.T) {
	for text, disables := range map[string][]int{
		"the components of column 1":  {1},
		"the components of column 2":  {0, 2},
		"the components of column -1": {-1},
		"is named twice":              {0, 0},
		"":                            {0},
	} {
		tag := storages[probing.StorageTag]
		m := &manifest{Columns: []columnManifest{{Name: "a", Storage: tag},
			{Name: "b", Storage: tag, Disabled: true, Disables: disables}, {Name: "c", Storage: tag}}}
		w, _, err := makeWorld(m, vast.Options{MaxEntities: 64}, nil)
		if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
			t.Errorf("%v: the error is %v, want %q", disables, err, text)
		}
		if w != nil {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
