package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/vastgo/vast/cluster/internal/protocol"
)

// stored implements [protocol.Stored].
type stored struct {
	done chan struct{} // closed when the checkpoint is stored or an error has ended the attempts

	// sum and err are valid after done is closed.
	sum []byte
	err error
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

// Sum implements [protocol.Stored].
func (s *stored) Sum() []byte { return s.sum }

func objectName(region int, name string) string { return fmt.Sprintf("%d.%s", region, name) }

// partsSubject returns the subject of the parts of an object, or the beginning of this subject. parts is the
// common name of the parts, or the beginning of this name.
//
// An object consists of one message with a description and of messages with the parts. The subjects follow
// the convention of NATS, so every NATS client can read the objects. Other clients give the parts a random
// name. Here the name of the parts begins with the name of the object. Therefore other processes can find the
// parts of a checkpoint if the process that stores the checkpoint dies.
func (s *Storage) partsSubject(parts string) string { return "$O." + s.base() + ".C." + parts }

func (s *Storage) aboutSubject(object string) string {
	return "$O." + s.base() + ".M." + base64.URLEncoding.EncodeToString([]byte(object))
}

// bytesChunk is the maximum size of a part of a checkpoint. Smaller parts would be slower, because by default
// the server syncs its file after each part.
const bytesChunk = 512 << 10

// PutCheckpoint implements [protocol.Storage].
func (s *Storage) PutCheckpoint(ctx context.Context, region int, name string, head, state []byte,
) protocol.Stored {
	result := &stored{done: make(chan struct{})}
	object := objectName(region, name)
	s.background.Go(func() {
		what := "storing the checkpoint " + object
		result.err = s.retryWithin(ctx, timeoutLong, what, func(ctx context.Context) (err error) {
			result.sum, err = s.putObject(ctx, object, head, state)
			return err
		})
		close(result.done)
	})
	return result
}

// putObject stores an object, and returns the SHA-256 of its contents. If putObject fails, some parts may be
// stored. RemoveCheckpoint removes them.
func (s *Storage) putObject(ctx context.Context, object string, contents ...[]byte) ([]byte, error) {
	about := jetstream.ObjectInfo{Bucket: s.base(), NUID: object + "." + rand.Text(),
		ObjectMeta: jetstream.ObjectMeta{Name: object,
			Opts: &jetstream.ObjectMetaOptions{ChunkSize: bytesChunk}}}
	var sent []jetstream.PubAckFuture
	digest, subject := sha256.New(), s.partsSubject(about.NUID)
	for _, content := range contents {
		digest.Write(content)
		about.Size += uint64(len(content))
		for part := range slices.Chunk(content, bytesChunk) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			// The client must not publish a part again by itself, because the caller may change the contents
			// after putObject has returned.
			future, err := s.bulk.PublishMsgAsync(&nats.Msg{Subject: subject, Data: part},
				jetstream.WithRetryAttempts(0))
			if err != nil {
				return nil, err
			}
			sent = append(sent, future)
		}
	}
	// The description is published after all parts are stored, so an object with a description is complete.
	for _, future := range sent {
		select {
		case <-future.Ok():
		case err := <-future.Err():
			return nil, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	about.Chunks, about.Digest = uint32(len(sent)), jetstream.GetObjectDigestValue(digest)
	b, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	_, err = s.js.PublishMsg(ctx, &nats.Msg{Subject: s.aboutSubject(object), Data: b,
		Header: nats.Header{jetstream.MsgRollup: {jetstream.MsgRollupSubject}}})
	return digest.Sum(nil), err
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

// Checkpoints implements [protocol.Storage].
func (s *Storage) Checkpoints(ctx context.Context, region int) (names []string, err error) {
	prefix := s.partsSubject(objectName(region, ""))
	err = s.retry(ctx, "listing the checkpoints", func(ctx context.Context) error {
		info, err := s.objectStream.Info(ctx, jetstream.WithSubjectFilter(prefix+">"))
		if err != nil {
			return err
		}
		names = nil
		for subject := range info.State.Subjects {
			name, _, _ := strings.Cut(strings.TrimPrefix(subject, prefix), ".")
			names = append(names, name)
		}
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// RemoveCheckpoint implements [protocol.Storage]. It does not call Delete of the NATS client, because Delete
// leaves one message of the object. RemoveCheckpoint removes the parts last. If it fails at any step,
// Checkpoints still lists the checkpoint while parts are left, so the caller can remove the rest.
func (s *Storage) RemoveCheckpoint(ctx context.Context, region int, name string) error {
	object := objectName(region, name)
	return s.retry(ctx, "removing the checkpoint "+object, func(ctx context.Context) error {
		err := s.objectStream.Purge(ctx, jetstream.WithPurgeSubject(s.aboutSubject(object)))
		if err != nil {
			return err
		}
		return s.objectStream.Purge(ctx, jetstream.WithPurgeSubject(s.partsSubject(object)+".>"))
	})
}
