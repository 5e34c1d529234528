package check

import "testing"

func TestParse(t *testing.T) {
	for comment, want := range map[string]struct {
		name, reason string
		ok           bool
	}{
		"//vastvet:ignore escape: never closed":    {"escape", "never closed", true},
		"//vastvet:ignore  escape : a: b // later": {"escape", "a: b", true},
		"//vastvet:ignore escape":                  {"escape", "", true},
		"//vastvet:ignore escape:  ":               {"escape", "", true},
		"//vastvet:ignore\tescape: x":              {"escape", "x", true},
		"//vastvet:ignore":                         {"", "", true},
		"//vastvet:ignore: why":                    {"", "why", true},
		"//vastvet:ignored escape: x":              {"", "", false},
		"// vastvet:ignore escape: x":              {"", "", false},
		"//go:noinline":                            {"", "", false},
	} {
		name, reason, ok := Parse(comment)
		if name != want.name || reason != want.reason || ok != want.ok {
			t.Errorf("%q: got name %q, reason %q, %v; want %q, %q, %v", comment, name, reason, ok, want.name,
				want.reason, want.ok)
		}
	}
}
