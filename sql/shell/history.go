package shell

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Bounds of a history.
const (
	historyLines = 1000
	historyBytes = 4 << 20 // only this number of bytes at the end of the file are read
)

// history is a file with one entry a line, the newest last. If path is empty, there is no file.
type history struct {
	path  string
	count int // lines in the file, as far as this process knows
}

// defaultHistory returns the path of the usual history file.
func defaultHistory() (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "vast", "sql_history"), nil
}

// load returns the newest entries of the file, up to historyLines and historyBytes. If the file has more
// entries, load removes the older entries from the file. A file that does not exist has no entries.
func (h *history) load() ([]string, error) {
	if h.path == "" {
		return nil, nil
	}
	lines, cutOff, err := h.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h.count = len(lines)
	if cutOff || h.count > historyLines {
		lines = lines[max(0, len(lines)-historyLines):]
		return lines, h.rewrite(lines)
	}
	// Another program may have made the file readable for other users.
	return lines, os.Chmod(h.path, 0o600)
}

// read returns the lines of the file that are safe to show on a terminal. cutOff reports whether the file is
// too large to be read as a whole.
func (h *history) read() (lines []string, cutOff bool, err error) {
	f, err := os.Open(h.path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, false, err
	}
	start := max(0, size-historyBytes)
	text := make([]byte, size-start)
	n, err := f.ReadAt(text, start)
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	text = text[:n]
	if start > 0 { // the first line may lack its beginning
		_, text, _ = bytes.Cut(text, []byte{'\n'})
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && clean(line) == line {
			lines = append(lines, line)
		}
	}
	return lines, start > 0, nil
}

// rewrite replaces the file.
func (h *history) rewrite(lines []string) error {
	f, err := os.CreateTemp(filepath.Dir(h.path), ".sql_history*") // has mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	h.count = len(lines)
	return nil
}

// add appends an entry to the file. If the file becomes too long, add removes the oldest entries, including
// those of other processes.
func (h *history) add(entry string) error {
	if h.path == "" || entry == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(entry + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if h.count++; h.count <= historyLines {
		return nil
	}
	_, err = h.load()
	return err
}
