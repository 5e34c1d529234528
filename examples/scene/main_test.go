package main

import (
	"strings"
	"testing"

	"github.com/vastgo/vast/vm"
)

const scenes = `village: 50000 entities
  loaded into 1400000 bytes of 10000000, with 390.6 KiB of handles while loading
  1327 died, 48673 live
  the hero has 70 health, and 1214 follow
  flushed 48673, 0 left
  the hero of the village is gone: true
city: 500000 entities
  refused: vm: grow 13.35 MiB for scene: memory limit reached: 0 of the 357142 elements that Options.MaxBytes (9.537 MiB) allows are in use: remove some, or raise it
forest: 200000 entities
  loaded into 5600000 bytes of 10000000, with 1.526 MiB of handles while loading
  5072 died, 194928 live
  the hero has 100 health, and 4774 follow
`

func TestScenes(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	if out.String() != scenes {
		t.Errorf("the output is\n%s\nwant\n%s", out.String(), scenes)
	}
	for _, p := range vm.Snapshot(false).Purposes {
		if p.Regions != 0 || p.Committed != 0 {
			t.Errorf("%s still holds %+v", p.Purpose, p)
		}
	}
}
