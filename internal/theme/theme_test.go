package theme

import (
	"maps"
	"math"
	"regexp"
	"strconv"
	"testing"
)

// TestContrast checks the contrast of the colours against WCAG 2.2, 1.4.3 and 1.4.11. Text needs a contrast
// of 4.5 to 1. Lines and frames that carry information need 3 to 1.
func TestContrast(t *testing.T) {
	css, err := Files.ReadFile("base.css")
	if err != nil {
		t.Fatal(err)
	}
	light := colorsOf(t, css, `(?s)\n:root \{(.*?)\n\}`)
	dark := colorsOf(t, css, `(?s)\n:root\[data-theme='dark'\] \{(.*?)\n\}`)
	system := colorsOf(t, css, `(?s)\n  :root:not\(\[data-theme='light'\]\) \{(.*?)\n  \}`)
	if !maps.Equal(dark, system) {
		t.Errorf("the dark theme that a user can choose differs from the system's dark theme:\n%v\n%v", dark,
			system)
	}
	for theme, colors := range map[string]map[string]float64{"light": light, "dark": dark} {
		for _, ground := range []string{"bg", "panel", "sunk", "wash"} {
			for _, text := range []string{"text", "dim", "accent", "warn", "bad", "good"} {
				if c := contrast(colors[text], colors[ground]); c < 4.5 {
					t.Errorf("%s: --%s on --%s has a contrast of %.2f", theme, text, ground, c)
				}
			}
		}
		// The documentation shows code in these colours.
		for _, text := range []string{"c1", "c2", "c3", "c4", "c7"} {
			if c := contrast(colors[text], colors["panel"]); c < 4.5 {
				t.Errorf("%s: --%s on --panel has a contrast of %.2f", theme, text, c)
			}
		}
		if c := contrast(colors["on-accent"], colors["accent"]); c < 4.5 {
			t.Errorf("%s: --on-accent on --accent has a contrast of %.2f", theme, c)
		}
		for _, ground := range []string{"bg", "panel"} {
			for _, line := range []string{"c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "edge"} {
				if c := contrast(colors[line], colors[ground]); c < 3 {
					t.Errorf("%s: --%s on --%s has a contrast of %.2f", theme, line, ground, c)
				}
			}
		}
	}
}

// colorsOf returns the relative luminances of the colours in the block of variables that matches a pattern.
func colorsOf(t *testing.T, css []byte, pattern string) map[string]float64 {
	t.Helper()
	body := regexp.MustCompile(pattern).FindSubmatch(css)
	if body == nil {
		t.Fatalf("the style sheet has no block that matches %s", pattern)
	}
	colors := make(map[string]float64)
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): #([0-9a-f]{6});`).FindAllSubmatch(body[1], -1) {
		n, err := strconv.ParseUint(string(m[2]), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		colors[string(m[1])] = 0.2126*linear(n>>16) + 0.7152*linear(n>>8&255) + 0.0722*linear(n&255)
	}
	if len(colors) != 21 {
		t.Fatalf("%s has %d colours, want 21", pattern, len(colors))
	}
	return colors
}

// linear converts a channel of an sRGB colour (red, green or blue) to linear light, from 0 to 1.
func linear(channel uint64) float64 {
	v := float64(channel) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }
