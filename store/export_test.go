package store

import "github.com/vastgo/vast/store/internal/disk"

// OpenFolder opens a folder that is not locked, such as a simulated one.
var OpenFolder = open

// LongChains has a store merge chains by the number of deltas alone.
func (s *Store) LongChains(mostDeltas int) { s.share, s.mostDeltas = 1e9, mostDeltas }

// CompactFile makes the file of a checkpoint hold everything.
func CompactFile(folder disk.Folder, number uint64) error { return compact(folder, number) }
