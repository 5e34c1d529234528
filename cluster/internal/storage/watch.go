package storage

import (
	"context"
	"fmt"
	"time"
)

// Entry is a key with its value.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64
	Time     time.Time // time at which the key was set, by the clock of the server
}

// Watch delivers the given keys that exist, then an Entry with an empty Key, and then the changes in their
// order. Watch may deliver several changes of a key as one change. An argument such as a.* stands for a.1,
// a.2 and so on. The channel is closed after the context or the connection has ended. After an interruption
// of the connection, the watch may continue with a delay; a new watch has no delay.
func (s *Storage) Watch(ctx context.Context, keys ...string) (<-chan Entry, error) {
	// The watch needs this context until the watch ends, so a timer, not a deadline, limits the start.
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
		defer func() { _ = watcher.Stop() }() // after an error, too, the subscription has ended
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
