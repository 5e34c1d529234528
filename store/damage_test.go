package store_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

func TestDamage(t *testing.T) {
	n := newTown(t, false)
	n.live(3, 400)
	file := save(t, n, store.Options{})
	try := func(what string, at int, damaged []byte) {
		t.Helper()
		w := makeTown(at%2 == 1).w // Load closes it
		if _, err := store.Load(w, bytes.NewReader(damaged), store.Options{}); err == nil {
			t.Fatalf("%s byte %d of %d: no error", what, at, len(file))
		} else if !strings.HasPrefix(err.Error(), `store: loading world "town": `) {
			t.Fatal(err)
		}
		if w.Len() != 0 {
			t.Fatalf("%s byte %d: the world has %d entities", what, at, w.Len())
		}
	}
	step := len(file) / 400
	if !longtest.Enabled() {
		step *= 8
	}
	for at := 0; at < len(file); at += step {
		damaged := bytes.Clone(file)
		damaged[at] ^= 1 << (at % 8)
		try("changed", at, damaged)
		try("cut at", at, file[:at])
	}
	try("cut at", len(file)-1, file[:len(file)-1])
}

func TestLoadRefuses(t *testing.T) {
	n := newTown(t, false)
	n.live(4, 400)
	file := save(t, n, store.Options{})
	used := newTown(t, false)
	e := used.walkers.New()
	_, err := store.Load(used.w, bytes.NewReader(file), store.Options{})
	if err == nil || !strings.Contains(err.Error(), "load into a new world") || !used.w.Alive(e) {
		t.Error(err)
	}
	used.w.Delete(e)
	if _, err = store.Load(used.w, bytes.NewReader(file), store.Options{}); err == nil {
		t.Error("Load into a world that had an entity returns no error")
	}
	commands := newTown(t, false)
	cs := vast.NewCommands(commands.w, vast.CommandsOptions{})
	cs.New(commands.walkers)
	if _, err = store.Load(commands.w, bytes.NewReader(file), store.Options{}); err == nil ||
		!strings.Contains(err.Error(), "World.Apply") {
		t.Error(err)
	}
	if err = store.Save(commands.w, io.Discard, store.Options{}); err == nil ||
		!strings.Contains(err.Error(), "World.Apply") {
		t.Error(err)
	}
	if _, err := commands.w.Apply(cs); err != nil {
		t.Fatal(err)
	}
	if err = store.Save(commands.w, io.Discard, store.Options{}); err != nil {
		t.Error(err)
	}
	small := vast.NewWorld(vast.Options{MaxEntities: 64})
	defer small.Close()
	vast.NewColumn[age](small)
	_, err = store.Load(small, bytes.NewReader(file), store.Options{})
	if err == nil || !strings.Contains(err.Error(), "set Options.MaxEntities to at least") {
		t.Error(err)
	}
	for text, says := range map[string]string{
		"":                               "too short",
		strings.Repeat("x", 100):         "does not hold a world",
		"vast world\r\n\x1a\x00\x63\x00": "version 99",
	} {
		_, err := store.Load(newTown(t, false).w, strings.NewReader(text), store.Options{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNoMemory(t *testing.T) {
	n := newTown(t, false)
	n.live(5, 4000)
	file := save(t, n, store.Options{})
	limit := vm.NewLimit(100 << 10)
	w := vast.NewWorld(vast.Options{Limit: limit})
	vast.NewColumn[position](w)
	vast.NewSparseColumn[burden](w)
	_, err := store.Load(w, bytes.NewReader(file), store.Options{})
	if !errors.Is(err, vm.ErrLimit) {
		t.Error(err)
	}
	if limit.Used() != 0 {
		t.Errorf("the limit still counts %d bytes", limit.Used())
	}
}

// failing is a writer that fails after the given number of bytes.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(b), nil
}

func TestWriteFails(t *testing.T) {
	n := newTown(t, false)
	n.live(6, 2000)
	size := len(save(t, n, store.Options{}))
	for left := 0; left < size; left += size/20 + 1 {
		if err := store.Save(n.w, &failing{left}, store.Options{}); err == nil ||
			!strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("the writer fails after %d of %d bytes: %v", left, size, err)
		}
	}
}
