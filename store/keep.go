package store

import (
	"errors"
	"io/fs"
	"math/bits"
	"slices"

	"github.com/vastgo/vast/store/internal/journal"
)

// wanted reports for each kept file whether its checkpoint stays because of Options.Keep or Options.KeepFor.
// If only Options.KeepBytes is set, KeepFor counts as unlimited. now is in milliseconds since 1970.
//
// For KeepFor, wanted divides time into spans and keeps one checkpoint of each span. The length of a
// checkpoint's span, in milliseconds, is the largest power of two that is at most an eighth of the age of the
// checkpoint, and at least 1. A span begins at a multiple of its length. When checkpoints get older, two
// neighbouring spans become one span with two checkpoints, and one of the two checkpoints is removed. The
// checkpoint that needs fewer files stays: other checkpoints of its chain usually need these files anyway.
func wanted(kept []keptFile, o Options, now int64) []bool {
	stays := make([]bool, len(kept))
	for i := range kept {
		stays[i] = i >= len(kept)-max(o.Keep, 1)
	}
	maxAge := o.KeepFor.Milliseconds()
	if o.KeepFor == 0 && o.Keep == 0 && o.KeepBytes > 0 {
		maxAge = now
	}
	if maxAge == 0 {
		return stays
	}
	files := make(map[uint64]int, len(kept)) // number of files that each checkpoint needs
	type span struct{ length, number int64 }
	chosen := make(map[span]int)
	for i := range kept {
		one := &kept[i]
		files[one.number] = files[one.base] + 1
		age := now - one.taken
		if one.taken == 0 || age > maxAge {
			continue
		}
		length := int64(1)
		if age >= 8 {
			length = 1 << (bits.Len64(uint64(age/8)) - 1)
		}
		s := span{length, one.taken / length}
		if other, ok := chosen[s]; !ok || files[one.number] < files[kept[other].number] {
			chosen[s] = i
		}
	}
	for _, i := range chosen {
		stays[i] = true
	}
	return stays
}

// needed reports for each kept file whether a checkpoint that stays needs the file.
func needed(kept []keptFile, stays []bool) []bool {
	files := make([]bool, len(kept))
	bases := make(map[uint64]bool)
	for i := len(kept) - 1; i >= 0; i-- {
		files[i] = stays[i] || bases[kept[i].number]
		if files[i] {
			bases[kept[i].base] = true
		}
	}
	return files
}

func oldestOf(stays []bool) int {
	for i, yes := range stays {
		if yes {
			return i
		}
	}
	return 0
}

// limit removes the oldest checkpoints from stays, one by one, while the needed files and the journal have
// more than Options.KeepBytes bytes. It does not remove the newest checkpoint.
func (s *Store) limit(stays []bool) error {
	if s.o.KeepBytes == 0 {
		return nil
	}
	files, err := s.folder.Files()
	if err != nil {
		return err
	}
	for {
		oldest := oldestOf(stays)
		if oldest == len(stays)-1 {
			return nil
		}
		bytes := int64(0)
		for i, yes := range needed(s.kept, stays) {
			if yes {
				bytes += s.kept[i].bytes
			}
		}
		for _, f := range files {
			if n := journal.Number(f.Name); n > 0 && n >= s.kept[oldest].since {
				bytes += f.Size
			}
		}
		if bytes <= s.o.KeepBytes {
			return nil
		}
		stays[oldest] = false
	}
}

// prune removes the checkpoint files and the journal segments that no remaining checkpoint needs. It removes
// the newest files first, because a newer checkpoint may need an older file.
func (s *Store) prune() error {
	stays := wanted(s.kept, s.o, s.now().UnixMilli())
	if err := s.limit(stays); err != nil {
		return err
	}
	since := s.kept[oldestOf(stays)].since
	files := needed(s.kept, stays)
	for i := len(s.kept) - 1; i >= 0; i-- {
		if files[i] {
			continue
		}
		err := s.folder.Remove(checkpointName(s.kept[i].number))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // an earlier call may have removed the file
			return err
		}
		s.kept, s.removed = slices.Delete(s.kept, i, i+1), true
	}
	if j := s.journalNow(); j != nil {
		return j.Remove(since)
	}
	if !s.removed {
		return nil
	}
	err := s.folder.Sync()
	s.removed = err != nil
	return err
}
