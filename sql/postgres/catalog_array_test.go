package postgres

import "testing"

func TestParseIdent(t *testing.T) {
	for text, want := range map[string]string{
		"Public":              "{public}",
		`public . "My table"`: `{public,"My table"}`,
		"a.b.c":               "{a,b,c}",
		"":                    "",
		"public.":             "",
		".t":                  "",
		"a b":                 "",
		"a,b":                 "",
	} {
		switch got := parseIdent([]any{text}).(type) {
		case error:
			if want != "" {
				t.Errorf("%q: %v, want %s", text, got, want)
			}
		default:
			if got != want {
				t.Errorf("%q: got %v, want %q", text, got, want)
			}
		}
	}
}
