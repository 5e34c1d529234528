package trial

import (
	"context"

	"github.com/vastgo/vast/cluster/internal/protocol"
)

// memory is a storage for owners that run one after the other. It is not safe for concurrent use. Its methods
// do not wait and do not check conditions, so a measurement contains only the costs of the owner.
type memory struct {
	outboxes []*memoryLog
	pointers [][]byte
}

var _ protocol.Storage = (*memory)(nil)

func newMemory(regions int) *memory {
	m := &memory{pointers: make([][]byte, regions)}
	for range regions {
		m.outboxes = append(m.outboxes, &memoryLog{})
	}
	return m
}

// Outbox implements [protocol.Storage].
func (m *memory) Outbox(region int) protocol.Log { return m.outboxes[region] }

// Inputs implements [protocol.Storage].
func (m *memory) Inputs(int) protocol.Log { return &memoryLog{} }

// Pointer implements [protocol.Storage].
func (m *memory) Pointer(_ context.Context, region int) (p []byte, revision uint64, err error) {
	if p = m.pointers[region]; p != nil {
		revision = 1
	}
	return p, revision, nil
}

// SetPointer implements [protocol.Storage].
func (m *memory) SetPointer(_ context.Context, region int, p []byte, _ uint64) (uint64, error) {
	m.pointers[region] = p
	return 1, nil
}

// PutCheckpoint implements [protocol.Storage].
func (m *memory) PutCheckpoint(context.Context, int, string, []byte, []byte) protocol.Stored {
	return forgotten{}
}

// Checkpoint implements [protocol.Storage].
func (m *memory) Checkpoint(context.Context, int, string) ([]byte, error) {
	return nil, protocol.ErrGone
}

// Checkpoints implements [protocol.Storage].
func (m *memory) Checkpoints(context.Context, int) ([]string, error) { return nil, nil }

// RemoveCheckpoint implements [protocol.Storage].
func (m *memory) RemoveCheckpoint(context.Context, int, string) error { return nil }

// forgotten is a checkpoint that is not stored, because nothing loads it.
type forgotten struct{}

// Done implements [protocol.Stored].
func (forgotten) Done() (bool, error) { return true, nil }

// Wait implements [protocol.Stored].
func (forgotten) Wait(context.Context) error { return nil }

// Sum implements [protocol.Stored].
func (forgotten) Sum() []byte { return nil }

// memoryLog is a log in memory. messages[i] has the number i + 1.
type memoryLog struct{ messages [][]byte }

// Append implements [protocol.Log].
func (l *memoryLog) Append(_ context.Context, _ uint64, _ protocol.ID, m []byte) protocol.Appended {
	l.messages = append(l.messages, m)
	return appended{}
}

type appended struct{}

// Wait implements [protocol.Appended].
func (appended) Wait(context.Context) error { return nil }

// Last implements [protocol.Log].
func (l *memoryLog) Last(context.Context) (uint64, error) { return uint64(len(l.messages)), nil }

// Read implements [protocol.Log].
func (l *memoryLog) Read(_ context.Context, from uint64) (number uint64, m []byte, ok bool, err error) {
	if from > uint64(len(l.messages)) {
		return 0, nil, false, nil
	}
	return from, l.messages[from-1], true, nil
}

// Wait implements [protocol.Log]. It does not wait, because owners read only messages that exist.
func (l *memoryLog) Wait(context.Context, uint64) error { return nil }

// Purge implements [protocol.Log].
func (l *memoryLog) Purge(context.Context, uint64) error { return nil }

// forgetful is a journal that keeps nothing.
type forgetful struct{}

var _ protocol.Journal = forgetful{}

// Write implements [protocol.Journal].
func (forgetful) Write(uint64, []byte) error { return nil }

// Read implements [protocol.Journal].
func (forgetful) Read(uint64) ([]byte, bool, error) { return nil, false, nil }

// Purge implements [protocol.Journal].
func (forgetful) Purge(uint64) error { return nil }
