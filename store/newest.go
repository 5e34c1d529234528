package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/vastgo/vast/internal/disk"
)

// newestPrefix and the number of a durable checkpoint form the name of an empty file. The store makes the
// file if no journal leads to that checkpoint. Without the file, a loss of the checkpoint would not be
// noticed: an older checkpoint, or an empty folder, would pass for the last state.
const newestPrefix = "newest-"

func newestName(number uint64) string { return fmt.Sprintf("%s%08d", newestPrefix, number) }

// newestNumber returns the number of the checkpoint that a file says must be there, or 0.
func newestNumber(name string) uint64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(name, newestPrefix), 10, 64)
	if err != nil || name != newestName(n) {
		return 0
	}
	return n
}

// checkNewest returns an error if the checkpoint that such a file names is missing, and no newer one is
// there. It notes the name of that file.
func (s *Store) checkNewest(files []disk.Info, numbers []uint64) (err error) {
	s.newestFile, err = lostNewest(files, numbers)
	return err
}

// lostNewest returns the name of the file that names the newest checkpoint, or "". It returns an error if
// neither that checkpoint nor a newer one is there.
func lostNewest(files []disk.Info, numbers []uint64) (name string, err error) {
	number := uint64(0)
	for _, f := range files {
		if n := newestNumber(f.Name); n > number {
			number, name = n, f.Name
		}
	}
	if number == 0 || len(numbers) > 0 && numbers[len(numbers)-1] >= number {
		return name, nil
	}
	left := "begin a new world"
	if len(numbers) > 0 {
		left = "go on from " + checkpointName(numbers[len(numbers)-1])
	}
	return name, fmt.Errorf("%s is missing, and it was durable: restore the file, or remove %s to %s",
		checkpointName(number), name, left)
}

// noteNewest records on the disk that a checkpoint must exist. It does nothing if a journal leads to the
// checkpoint from the one before it, because the journal then shows a loss. older are the checkpoints before.
func (s *Store) noteNewest(newest keptFile, older []keptFile) error {
	name := newestName(newest.number)
	if name == s.newestFile || newest.since > 0 && (len(older) == 0 || older[len(older)-1].since > 0) {
		return nil
	}
	if s.newestFile != "" {
		if err := s.folder.Rename(s.newestFile, name); err != nil {
			return err
		}
	} else {
		f, err := s.folder.Create(name)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	s.newestFile = name
	return s.folder.Sync()
}
