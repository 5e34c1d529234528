package storage

import (
	"context"
	"fmt"
	"time"
)

// Entry is a key with its value. An Entry without a key follows those that existed when a watch began.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64
	Time     time.Time // when the key was set, by the clock of the server
}

// Watch tells the values of keys and all changes, in their order. Several changes of a key before it is told
// may be told as one. A key may end with .* to stand for many. The channel is closed after the context or the
// connection has ended. While the connection is interrupted nothing is told, and the watch may need long to
// notice that the server answers again; a new watch does not.
func (s *Storage) Watch(ctx context.Context, keys ...string) (<-chan Entry, error) {
	// The end of this context ends the watch. So a timer limits the time until the watch begins.
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(timeout, cancel)
	watcher, err := s.regions.WatchFiltered(ctx, keys)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("watching keys: %w", err)
	}
	late.Stop()
	entries := make(chan Entry)
	s.background.Go(func() {
		defer close(entries)
		defer cancel()
		defer func() {
			for range watcher.Updates() {
				// The subscription does not end before all of its updates are taken.
			}
		}()
		defer func() { _ = watcher.Stop() }() // an error says that the connection has ended
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-watcher.Updates():
				if !ok {
					return
				}
				var told Entry
				if e != nil {
					told = Entry{e.Key(), e.Value(), e.Revision(), e.Created()}
				}
				select {
				case entries <- told:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	return entries, nil
}
