package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/vastgo/vast/internal/disk"
)

// newestPrefix and the number of a durable checkpoint form the name of an empty file. The store makes this
// file if the journal would not show that the checkpoint is lost: see noteNewest. If the checkpoint is lost,
// the empty file shows the loss.
const newestPrefix = "newest-"

func newestName(number uint64) string { return fmt.Sprintf("%s%08d", newestPrefix, number) }

// newestNumber returns the number in a name that newestName makes, or 0 for any other name.
func newestNumber(name string) uint64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(name, newestPrefix), 10, 64)
	if err != nil || name != newestName(n) {
		return 0
	}
	return n
}

// checkNewest sets newestFile, and returns an error if the newest durable checkpoint is lost: see lostNewest.
func (s *Store) checkNewest(files []disk.Info, numbers []uint64) (err error) {
	s.newestFile, err = lostNewest(files, numbers)
	return err
}

// lostNewest returns the newest of the names that newestName has made, or "". numbers are the checkpoints in
// the folder, in ascending order. lostNewest returns an error if the folder has neither the checkpoint in
// that name nor a newer one.
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
	goal := "begin a new world"
	if len(numbers) > 0 {
		goal = "continue from " + checkpointName(numbers[len(numbers)-1])
	}
	return name, fmt.Errorf("%s is missing, but it was durable: restore the file, or remove %s to %s",
		checkpointName(number), name, goal)
}

// noteNewest makes the file that names the newest checkpoint, or renames the file that names an earlier
// checkpoint. older are the checkpoints before the newest one. noteNewest does nothing if the file has this
// name already. It also does nothing in two cases in which the journal would show a loss of the newest
// checkpoint: a journal leads from the previous checkpoint to the newest one, or the newest checkpoint is the
// first and has a journal.
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
