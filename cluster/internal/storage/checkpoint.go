package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/vastgo/vast/cluster/internal/protocol"
)

// stored is a checkpoint on its way.
type stored struct {
	done chan struct{} // closed at the end
	err  error         // valid after done is closed
}

// Done implements [protocol.Stored].
func (s *stored) Done() (bool, error) {
	select {
	case <-s.done:
		return true, s.err
	default:
		return false, nil
	}
}

// Wait implements [protocol.Stored].
func (s *stored) Wait(ctx context.Context) error {
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func objectName(region int, name string) string { return fmt.Sprintf("%d.%s", region, name) }

// bytesChunk is the size of the parts of a checkpoint. The server syncs each part.
const bytesChunk = 512 << 10

// PutCheckpoint implements [protocol.Storage].
func (s *Storage) PutCheckpoint(ctx context.Context, region int, name string, head, state []byte,
) protocol.Stored {
	result := &stored{done: make(chan struct{})}
	object := objectName(region, name)
	s.background.Go(func() {
		what := "storing the checkpoint " + object
		result.err = s.retryWithin(ctx, timeoutLong, what, func(ctx context.Context) error {
			_, err := s.objects.Put(ctx, jetstream.ObjectMeta{Name: object,
				Opts: &jetstream.ObjectMetaOptions{ChunkSize: bytesChunk}},
				io.MultiReader(bytes.NewReader(head), bytes.NewReader(state)))
			return err
		})
		close(result.done)
	})
	return result
}

// Checkpoint implements [protocol.Storage].
func (s *Storage) Checkpoint(ctx context.Context, region int, name string) (b []byte, err error) {
	object := objectName(region, name)
	what := "reading the checkpoint " + object
	err = s.retryWithin(ctx, timeoutLong, what, func(ctx context.Context) (err error) {
		b, err = s.objects.GetBytes(ctx, object)
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			return fmt.Errorf("%w: %w", protocol.ErrGone, err)
		}
		return err
	})
	return b, err
}

// RemoveCheckpoint implements [protocol.Storage].
func (s *Storage) RemoveCheckpoint(ctx context.Context, region int, name string) error {
	object := objectName(region, name)
	return s.retry(ctx, "removing the checkpoint "+object, func(ctx context.Context) error {
		if err := s.objects.Delete(ctx, object); !errors.Is(err, jetstream.ErrObjectNotFound) {
			return err
		}
		return nil
	})
}
