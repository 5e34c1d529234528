package protocol

import (
	"context"
	"errors"
)

// Storage is where the logs, pointers and checkpoints of a cluster are. All processes of the cluster see the
// same storage. Its methods wait for the storage until the context ends.
type Storage interface {
	// Outbox returns the log of the messages of a region.
	Outbox(region int) Log
	// Inputs returns the log of the inputs of a region.
	Inputs(region int) Log
	// Pointer returns the pointer of a region and its revision, which is 0 if the region has no pointer yet.
	Pointer(ctx context.Context, region int) (p []byte, revision uint64, err error)
	// SetPointer replaces the pointer of a region if its revision is the given one, and returns the new
	// revision. It returns ErrRefused if the revision is another one. After other errors the pointer may have
	// been replaced.
	SetPointer(ctx context.Context, region int, p []byte, revision uint64) (uint64, error)
	// PutCheckpoint begins to store a checkpoint, which is given in two parts, under a name that no other
	// checkpoint of the region has. It does not wait.
	PutCheckpoint(ctx context.Context, region int, name string, head, state []byte) Stored
	// Checkpoint returns a checkpoint, or ErrGone.
	Checkpoint(ctx context.Context, region int, name string) ([]byte, error)
	// Checkpoints returns the names of the checkpoints of a region, also of those of which only a part was
	// stored. It may miss checkpoints that are being stored.
	Checkpoints(ctx context.Context, region int) ([]string, error)
	// RemoveCheckpoint removes a checkpoint or the part of it that was stored, if there is one.
	RemoveCheckpoint(ctx context.Context, region int, name string) error
}

// Log is a sequence of messages with ascending numbers, which begin at 1.
type Log interface {
	// Append begins to append a message, under the condition that the newest message has the number last, or
	// that no message was ever appended and last is 0. Unless before is zero, the newest message must have
	// this ID, too; messages that Append has not appended have none. Calls take effect in their order, and
	// Append does not wait.
	//
	// A caller that sends several messages at once guesses the numbers of those on their way. If one of them
	// is refused, a message of another owner may have its number. So the number alone would not do.
	Append(ctx context.Context, last uint64, before ID, m []byte) Appended
	// Last returns the number of the newest message that was ever appended, or 0. The answer is not older
	// than the call.
	Last(ctx context.Context) (uint64, error)
	// Read returns the first message whose number is at least from. ok is false if there is none yet. It may
	// miss messages that were appended lately, but not those that it has returned.
	Read(ctx context.Context, from uint64) (number uint64, m []byte, ok bool, err error)
	// Wait returns when Read finds a message whose number is at least from, or after some time.
	Wait(ctx context.Context, from uint64) error
	// Purge removes the messages whose numbers are below a number. It keeps the newest message.
	Purge(ctx context.Context, below uint64) error
}

// Appended is a message that is being appended.
type Appended interface {
	// Wait returns nil when the message is durable; or ErrRefused, if the condition did not hold; or another
	// error, after which the message may be appended now, later, or never.
	Wait(ctx context.Context) error
}

// Stored is a checkpoint that is being stored.
type Stored interface {
	// Done reports whether the checkpoint is durable. It returns an error if the checkpoint was not stored.
	Done() (bool, error)
	// Wait waits until Done reports true, or an error. It returns the error of the context if that ends.
	Wait(ctx context.Context) error
	// Sum returns the SHA-256 of the checkpoint, once Done has reported true.
	Sum() []byte
}

// Journal keeps the messages of one outbox on the disk of a process.
type Journal interface {
	// Write keeps the message of a tick, and forgets messages of this and later ticks that were kept before.
	// When it returns, the message is durable.
	Write(tick uint64, m []byte) error
	// Read returns the message of a tick.
	Read(tick uint64) (m []byte, ok bool, err error)
	// Purge forgets the messages of the ticks below a tick.
	Purge(below uint64) error
}

// Machine is the state machine of a region. Its methods are called one after the other.
type Machine interface {
	// Tick runs a tick. received has what regions sent to this one lookahead ticks before, by sender, and is
	// nil if the world did not exist then. inputs are those that came since the tick before. The results are
	// what the tick sends, by receiver, and a hash of the state or zero. They depend on nothing else than the
	// calls before and the arguments. The caller does not change the sections later.
	Tick(tick uint64, received, inputs [][]byte) (sections [][]byte, state Hash, err error)
	// Save returns the state. The bytes are valid until the next call of Save.
	Save() ([]byte, error)
	// Load sets the state to what Save has returned after a tick.
	Load(tick uint64, state []byte) error
}

var (
	// ErrRefused reports that a condition of a call does not hold.
	ErrRefused = errors.New("another process was first")
	// ErrGone reports that what was asked for was removed.
	ErrGone = errors.New("removed")
	// ErrFenced reports that a region has another owner.
	ErrFenced = errors.New("another process owns the region")
	// ErrLost reports that a log has lost messages that it had acknowledged.
	ErrLost = errors.New("acknowledged messages are lost")
	// ErrVersion reports that a tick is one of an earlier version of the program.
	ErrVersion = errors.New("another version of the program must run the region first")
	// ErrEnd is the error of Options.Due for a tick of a later version of the program.
	ErrEnd = errors.New("a later version of the program runs the tick")
	// ErrHistory reports that a message contradicts what was read or computed before.
	ErrHistory = errors.New("the history has changed")
)
