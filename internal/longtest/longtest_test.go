package longtest

import "testing"

func TestPick(t *testing.T) {
	t.Setenv("VAST_LONG", "")
	if Enabled() || Pick(1, 20) != 1 {
		t.Error("the long form is enabled without VAST_LONG")
	}
	t.Setenv("VAST_LONG", "1")
	if want := !testing.Short(); Enabled() != want || Pick(1, 20) == 20 != want {
		t.Errorf("with VAST_LONG=1, Enabled returned %v, want %v; Pick(1, 20) returned %d", Enabled(), want,
			Pick(1, 20))
	}
}

func TestOnly(t *testing.T) {
	t.Setenv("VAST_LONG", "")
	ran := false
	t.Run("usual", func(t *testing.T) {
		Only(t)
		ran = true
	})
	if ran {
		t.Error("a long test ran without VAST_LONG")
	}
	t.Setenv("VAST_LONG", "1")
	t.Run("long", func(t *testing.T) {
		Only(t)
		ran = true
	})
	if want := !testing.Short(); ran != want {
		t.Errorf("with VAST_LONG=1, the long test ran: %t, want %t", ran, want)
	}
}
