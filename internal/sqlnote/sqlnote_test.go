package sqlnote

import (
	"context"
	"slices"
	"testing"
)

func TestNotesReachTheNearestReceiver(t *testing.T) {
	Send(t.Context(), "no receiver")
	Send(With(t.Context(), nil), "a nil receiver")
	var outer, inner []string
	ctx := With(t.Context(), func(s string) { outer = append(outer, s) })
	Send(ctx, "one")
	within, cancel := context.WithCancel(With(ctx, func(s string) { inner = append(inner, s) }))
	defer cancel()
	Send(within, "two")
	Send(within, "three")
	if !slices.Equal(outer, []string{"one"}) || !slices.Equal(inner, []string{"two", "three"}) {
		t.Errorf("outer %q, inner %q", outer, inner)
	}
}
