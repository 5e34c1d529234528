package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	failed := errors.New("failed")
	text := strings.Repeat("text", 100_000)
	if err := Create(path, nil, func(to io.Writer) error {
		fmt.Fprint(to, text)
		return failed
	}); !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after a failed write, the file exists: %v", err)
	}
	write := func(to io.Writer) error {
		_, err := fmt.Fprint(to, text)
		return err
	}
	if err := Create(path, nil, write); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, nil, func(io.Writer) error {
		t.Error("an existing file is opened")
		return nil
	}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("for an existing file, the error is %v", err)
	}
	var stdout strings.Builder
	if err := Create("", &stdout, write); err != nil || stdout.String() != text {
		t.Errorf("standard output has %d bytes, want %d; %v", stdout.Len(), len(text), err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("the file has %d bytes, want %d; %v", len(got), len(text), err)
	}
	if err := Create(filepath.Join(path, "below"), nil, write); err == nil {
		t.Error("a path below a file: no error")
	}
}
