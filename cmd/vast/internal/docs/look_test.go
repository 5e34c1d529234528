package docs

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// blocksOfColours are the parts of a style sheet with the colours of the themes: light, dark by choice, dark by the system.
var blocksOfColours = []string{`(?s)\n:root \{(.*?)\n\}`, `(?s)\n:root\[data-theme="dark"\] \{(.*?)\n\}`,
	`(?s)\n  :root:not\(\[data-theme="light"\]\) \{(.*?)\n  \}`}

var colour = regexp.MustCompile(`--([a-z0-9-]+): #([0-9a-f]{6});`)

// TestColours holds the colours against those of the inspector's page, which this is to look like, and the colours of code
// against what people with weak eyes need: 4.5 to 1 (WCAG 2.2, 1.4.3).
func TestColours(t *testing.T) {
	inspector, err := os.ReadFile("../../../../inspect/page/style.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range blocksOfColours {
		here, there := coloursOf(t, theSite(t).files["style.css"], block), coloursOf(t, inspector, block)
		if len(here) < 20 {
			t.Errorf("%s has only %d colours", block, len(here))
		}
		for name, value := range here {
			if value != there[name] {
				t.Errorf("%s: --%s is %06x, and %06x in the inspector", block, name, value, there[name])
			}
		}
		for _, name := range []string{"text", "dim", "accent", "c1", "c2", "c3", "c4", "c7"} {
			if c := contrast(here[name], here["panel"]); c < 4.5 {
				t.Errorf("%s: --%s on code has a contrast of %.2f", block, name, c)
			}
		}
	}
}

func coloursOf(t *testing.T, css []byte, block string) map[string]uint64 {
	t.Helper()
	body := regexp.MustCompile(block).FindSubmatch(css)
	if body == nil {
		t.Fatalf("a style sheet has no %s", block)
	}
	colours := make(map[string]uint64)
	for _, m := range colour.FindAllSubmatch(body[1], -1) {
		colours[string(m[1])], _ = strconv.ParseUint(string(m[2]), 16, 32)
	}
	return colours
}

// contrast is how far apart two colours are in brightness, from 1 to 21.
func contrast(a, b uint64) float64 {
	brightness := func(colour uint64) (sum float64) {
		for i, weight := range []float64{0.0722, 0.7152, 0.2126} {
			part := float64(colour>>(8*i)&255) / 255
			if part <= 0.04045 {
				sum += weight * part / 12.92
			} else {
				sum += weight * math.Pow((part+0.055)/1.055, 2.4)
			}
		}
		return sum + 0.05
	}
	x, y := brightness(a), brightness(b)
	return max(x, y) / min(x, y)
}
