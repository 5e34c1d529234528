package storage

import (
	"context"
	"fmt"
	"time"
)

// Entry is a key with its value. A watch first delivers all keys that exist, and then an Entry with an empty
// Key.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64
	Time     time.Time // when the key was set, by the clock of the server
}

// Watch delivers the values of keys, and then the changes of these keys in their order. Several changes of a
// key may be delivered as one change. A key that ends with .* stands for all keys with the same beginning.
// The channel is closed after the context or the connection has ended. While the connection is interrupted,
// the watch delivers nothing. When the server answers again, this watch may continue only after some time; a
// new watch begins without this delay.
func (s *Storage) Watch(ctx context.Context, keys ...string) (<-chan Entry, error) {
	// This context is that of the whole watch, so it has no deadline. A timer limits the time until the watch
	// begins.
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(timeout, cancel)
	watcher, err := s.keys.WatchFiltered(ctx, keys)
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
				// The subscription ends only after all of its updates are received.
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
