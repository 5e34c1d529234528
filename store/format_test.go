package store_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/store"
)

// TestPythonReader checks docs/read_store.py, a reader that follows docs/store-format.md.
func TestPythonReader(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" && runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	n := newTown(t, false)
	n.live(8, 500)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, save(t, n, store.Options{}), 0o600); err != nil {
		t.Fatal(err)
	}
	mustList(t, python, path, n)
	dir := t.TempDir()
	kept := newTown(t, false)
	st, err := store.Open(dir, kept.w, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustChain(t, st, dir, func(round uint64) { kept.live(8+round, 120) })
	mustList(t, python, dir, kept)
	defer store.PlaceFrom(1)() // so that the files of the next store have lists of blocks
	dir = t.TempDir()
	kept = newTown(t, false)
	if st, err = store.Open(dir, kept.w, store.Options{}); err != nil {
		t.Fatal(err)
	}
	mustChain(t, st, dir, func(round uint64) { kept.live(8+round, 120) })
	mustList(t, python, dir, kept)
}

// mustChain takes checkpoints that form a chain with merged deltas, and closes the store.
func mustChain(t *testing.T, st *store.Store, dir string, change func(round uint64)) {
	t.Helper()
	st.LongChains(3)
	change(0)
	if err := st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	for round := range uint64(6) {
		change(1 + round)
		if err := st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "checkpoint-*")); err != nil || len(files) != 4 {
		t.Fatalf("the chain has the files %q, want 4 files; the error is %v", files, err)
	}
}

// mustList checks what docs/read_store.py prints for the file or folder of a town.
func mustList(t *testing.T, python, path string, n *town) {
	t.Helper()
	out, err := exec.Command(python, "../docs/read_store.py", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	i := 0
	for e := range n.w.Query().All() {
		if i == len(lines) {
			break
		}
		line := lines[i]
		i++
		want := []string{fmt.Sprintf("%v ", e)}
		if p := n.age.Get(e); p != nil {
			want = append(want, fmt.Sprintf(" age={'Days': %d, 'Adult': %s}", p.Days, pythonBool(p.Adult)))
		}
		if p := n.burden.Get(e); p != nil {
			want = append(want, fmt.Sprintf("burden={'Of': '%v', 'Weight': [%d, ", p.Of, p.Weight[0]))
		}
		if p := n.diary.Get(e); p != nil {
			want = append(want, fmt.Sprintf("'Title': '%s', 'Lines': ['a', '', ", p.Title))
		}
		if name, ok := n.names.Of(e); ok {
			want = append(want, "Name="+name)
		}
		if f, ok := n.childOf.Target(e); ok {
			want = append(want, fmt.Sprintf("childOf=%v", f))
		}
		for _, part := range want {
			if !strings.Contains(line+" ", part) {
				t.Fatalf("%v: %s\nlacks %s", e, line, part)
			}
		}
	}
	if i != len(lines) || i != n.w.Len() {
		t.Errorf("%d lines for %d entities", len(lines), n.w.Len())
	}
}

func pythonBool(v bool) string {
	if v {
		return "True"
	}
	return "False"
}

func TestPythonReaderOfContainers(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	n := newYard(t, yardOptions{layout: bulk.LayoutBlocks16})
	dir := t.TempDir()
	st, err := store.Open(dir, n.w, n.options())
	if err != nil {
		t.Fatal(err)
	}
	mustChain(t, st, dir, func(round uint64) { n.live(9+round, 80) })
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, saveYard(t, n), 0o600); err != nil {
		t.Fatal(err)
	}
	mustListYard(t, python, path, n)
	mustListYard(t, python, dir, n)
}

func mustListYard(t *testing.T, python, path string, n *yard) {
	t.Helper()
	out, err := exec.Command(python, "../docs/read_store.py", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var want []string
	for k, v := range n.boxes.All() {
		want = append(want, fmt.Sprintf("boxes[[%d, %d, %d]]=%d", k[0], k[1], k[2], v))
	}
	stoneOf := func(s *stone) string { return fmt.Sprintf("{'Weight': %.1f, 'Kind': %d}", s.Weight, s.Kind) }
	for h, s := range n.dense.All() {
		want = append(want, fmt.Sprintf("dense %d.%d=%s", h.Slot(), h.Generation(), stoneOf(s)))
	}
	for h, s := range n.ships.All() {
		want = append(want, fmt.Sprintf("fleet %d.%d={'Owner': %d, ", h.Slot(), h.Generation(), s.Owner))
	}
	for _, s := range n.items.All() {
		values := "["
		for i, item := range s {
			if i > 0 {
				values += ", "
			}
			values += fmt.Sprintf("{'Name': %d, 'Count': %d}", item.Name, item.Count)
		}
		want = append(want, "="+values+"]")
	}
	for h := range n.marks.All() {
		want = append(want, fmt.Sprintf("marks %d.%d={}", h.Slot(), h.Generation()))
	}
	for h, s := range n.plain.All() {
		want = append(want, fmt.Sprintf("plain %d.%d=%s", h.Slot(), h.Generation(), stoneOf(s)))
	}
	for k, v := range n.scores.All() {
		want = append(want, fmt.Sprintf("scores[%d]=%d", k, v))
	}
	for i, s := range n.stones.Slice() {
		want = append(want, fmt.Sprintf("stones[%d]=%s", i, stoneOf(&s)))
	}
	for row := range n.table.Len() {
		want = append(want, fmt.Sprintf("table[%d]={'age': %d, 'x': %.1f, 'place': [%d, %d", row,
			*n.age.At(row), *n.x.At(row), n.place.At(row)[0], n.place.At(row)[1]))
	}
	for k, v := range n.words.All() {
		want = append(want, fmt.Sprintf("words[%d]=%d", k, v))
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")[n.w.Len():]
	if len(lines) != len(want) {
		t.Fatalf("%d lines for %d elements", len(lines), len(want))
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Fatalf("%s\nlacks %s", line, want[i])
		}
	}
}
