package snake

import "testing"

func TestCase(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "x": "x", "HomeTown": "home_town", "HTTPPort": "http_port", "game.Home Town": "game_home_town",
		"Level2Boss": "level2_boss", "already_there": "already_there", "ÄpfelUndÖl": "äpfel_und_öl",
	} {
		if got := Case(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
