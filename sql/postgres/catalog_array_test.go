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

func TestArraysWithNull(t *testing.T) {
	for _, test := range []struct{ got, want any }{
		{removeElement([]any{"{a,NULL,b}", nil}), "{a,b}"},
		{removeElement([]any{"{a,NULL,b}", "a"}), "{NULL,b}"},
		{removeElement([]any{nil, "a"}), nil},
		{joinArray([]any{"{a,NULL,b}", "-"}), "a-b"},
		{joinArray([]any{"{a,NULL,b}", "-", "?"}), "a-?-b"},
		{joinArray([]any{"{a,b}", nil}), nil},
	} {
		if test.got != test.want {
			t.Errorf("got %v, want %v", test.got, test.want)
		}
	}
}
