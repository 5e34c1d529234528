package protocol

import (
	"context"
	"errors"
)

// Storage keeps the logs, pointers and checkpoints of a cluster: doc.go explains these terms. All processes
// of the cluster share one storage. Methods that return an error wait until the storage answers or the
// context ends.
type Storage interface {
	// Outbox returns the log of the messages of a region.
	Outbox(region int) Log
	// Inputs returns the log of the inputs of a region.
	Inputs(region int) Log
	// Pointer returns the pointer of a region and its revision, which is 0 if the region has no pointer yet.
	Pointer(ctx context.Context, region int) (p []byte, revision uint64, err error)
	// SetPointer replaces the pointer of a region if the pointer has the given revision, and returns the new
	// revision. It returns ErrRefused if the pointer has another revision. After any error, including
	// ErrRefused, the pointer may have been replaced: SetPointer may try several times, and the answer to an
	// earlier attempt may be lost.
	SetPointer(ctx context.Context, region int, p []byte, revision uint64) (uint64, error)
	// PutCheckpoint begins to store a checkpoint, and does not wait. The checkpoint consists of head and
	// state. The caller must use a different name for each checkpoint of the region.
	PutCheckpoint(ctx context.Context, region int, name string, head, state []byte) Stored
	// Checkpoint returns a checkpoint, or ErrGone if there is no complete checkpoint with this name.
	Checkpoint(ctx context.Context, region int, name string) ([]byte, error)
	// Checkpoints returns the names of the checkpoints of a region, including checkpoints that are stored in
	// part. The names of checkpoints that are being stored may be missing.
	Checkpoints(ctx context.Context, region int) ([]string, error)
	// RemoveCheckpoint removes a checkpoint, or the part of it that is stored. It returns nil if nothing is
	// stored.
	RemoveCheckpoint(ctx context.Context, region int, name string) error
}

// Log is a sequence of messages with ascending numbers. The first message has the number 1.
type Log interface {
	// Append begins to append the message m, and does not wait. The log refuses m if lastNumber is not the
	// number of the newest message. For a log that never had a message, lastNumber is 0. The log also refuses
	// m if lastID is neither zero nor the ID of the newest message. Only messages that Append has appended
	// have an ID. Calls take effect in their order.
	//
	// An owner appends the next message before the previous one is acknowledged, so it passes a predicted
	// lastNumber. If the previous message was refused, a message of another owner may have this number.
	// Therefore the log compares the ID, too.
	Append(ctx context.Context, lastNumber uint64, lastID ID, m []byte) Appended
	// Last returns the number of the newest message, or 0 if the log never had a message. It counts all
	// messages that were appended before the call.
	Last(ctx context.Context) (uint64, error)
	// Read returns the message with the lowest number >= from. ok is false if Read finds no message. Read may
	// miss messages that were appended a short time ago. It does not miss a message that it has returned
	// before.
	Read(ctx context.Context, from uint64) (number uint64, m []byte, ok bool, err error)
	// Wait returns nil when Read can find a message with a number >= from, or after some time.
	Wait(ctx context.Context, from uint64) error
	// Purge removes the messages with numbers < below, but keeps the newest message of the log.
	Purge(ctx context.Context, below uint64) error
}

// Appended is a message that is being appended.
type Appended interface {
	// Wait returns nil when the message is durable, and ErrRefused if the condition of Append did not hold.
	// After another error, the message may already be in the log, may be appended later, or may never be
	// appended.
	Wait(ctx context.Context) error
}

// Stored is a checkpoint that is being stored.
type Stored interface {
	// Done reports whether the attempt to store the checkpoint has ended. If it has ended without an error,
	// the checkpoint is durable. After an error, the checkpoint may be stored completely, in part, or not at
	// all.
	Done() (bool, error)
	// Wait waits until the attempt has ended, and returns the error of Done. If the context ends first, Wait
	// returns the error of the context.
	Wait(ctx context.Context) error
	// Sum returns the SHA-256 of the checkpoint. Call Sum only after Done has returned true and no error.
	Sum() []byte
}

// Journal keeps the messages of one outbox on the disk of a process.
type Journal interface {
	// Write writes the message of a tick. It removes older messages of this tick, and messages of later
	// ticks. After a power failure, the journal must still have each message that the outbox acknowledged.
	Write(tick uint64, m []byte) error
	// Read returns the message of a tick. ok is false if the journal does not have the message.
	Read(tick uint64) (m []byte, ok bool, err error)
	// Purge removes the messages of ticks < below. The journal may keep some of them on the disk.
	Purge(below uint64) error
}

// Machine is the state machine of a region. Its methods are not called concurrently.
type Machine interface {
	// Tick runs a tick. received[i] is the section that region i sent to this region lookahead ticks earlier;
	// received is nil in the first lookahead ticks. inputs are the inputs that came since the previous tick.
	// sections[i] is the section for region i, and state is a hash of the state, or zero. The results must
	// depend only on the earlier calls and the arguments. The caller does not change the sections.
	Tick(tick uint64, received, inputs [][]byte) (sections [][]byte, state Hash, err error)
	// Save returns the state. The bytes are valid until the next call of Save.
	Save() ([]byte, error)
	// Load sets the state to a state that Save returned after the tick.
	Load(tick uint64, state []byte) error
}

var (
	// ErrRefused reports that the condition of Append or SetPointer does not hold.
	ErrRefused = errors.New("another process was first")
	// ErrGone reports that a message or an input was removed, or that there is no complete checkpoint with
	// the given name.
	ErrGone = errors.New("removed")
	// ErrFenced reports that a region has another owner.
	ErrFenced = errors.New("another process owns the region")
	// ErrLost reports that a log has lost messages that it had acknowledged.
	ErrLost = errors.New("acknowledged messages are lost")
	// ErrVersion reports that an earlier version of the program must still run ticks of the region.
	ErrVersion = errors.New("another version of the program must run the region first")
	// ErrEnd is the error of Options.Due for a tick that a later version of the program or another owner
	// runs.
	ErrEnd = errors.New("a later version of the program runs the tick")
	// ErrHistory reports that a message contradicts what was read or computed before.
	ErrHistory = errors.New("the history has changed")
)
