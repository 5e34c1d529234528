package earth

import (
	"bytes"
	"os"
	"testing"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

func TestStage(t *testing.T) {
	for _, c := range []struct {
		stage stage
		want  string
	}{
		{stage{"travellers", 500, 2000}, "travellers 25 %"},
		{stage{"travellers", 2000, 2000}, "travellers 100 %"},
		{stage{"reading places", 7, 0}, "reading places"},
	} {
		if got := c.stage.String(); got != c.want {
			t.Errorf("the text of %#v is %q, want %q", c.stage, got, c.want)
		}
	}
}

func TestLoadingIsInterrupted(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signals <- os.Interrupt
	var stderr bytes.Buffer
	l, status := load(options{travellers: 1000, seed: 1}, signals, &stderr)
	if l.earth != nil || status != cli.Interrupted || stderr.Len() > 0 {
		t.Errorf("load made a world: %v, exit status %d, stderr %q; want false, %d and nothing",
			l.earth != nil, status, &stderr, cli.Interrupted)
	}
}
