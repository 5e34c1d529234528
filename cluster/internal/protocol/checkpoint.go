package protocol

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
)

// pointer names the newest checkpoint of a region. The storage keeps the pointer as JSON, so that operators
// can read it.
type pointer struct {
	Epoch uint64 // epoch of the owner that has written the pointer
	Owner uint64 // number of this owner
	// Holder is the process whose journal has the ticks of the outbox. A tick after Since in this journal
	// belongs to the outbox only if it is of HolderEpoch. Ticks up to Since may also be of earlier epochs.
	Holder      string
	HolderEpoch uint64
	Since       uint64

	Tick       uint64 // last tick in the checkpoint; 0 if there is no checkpoint
	Hash       []byte // hash of the history up to Tick
	Checkpoint string // name of the checkpoint
	Sum        []byte // SHA-256 of the checkpoint
}

// fences returns ErrFenced if another owner has written the pointer in the epoch of r or in a later epoch.
func (p *pointer) fences(r *owner) error {
	if p.Epoch < r.epoch || p.Epoch == r.epoch && p.Owner == r.o.Number {
		return nil
	}
	return fmt.Errorf("the owner %d has written the pointer in the epoch %d: %w", p.Owner, p.Epoch, ErrFenced)
}

func (o *Options) pointerOf(ctx context.Context, region int) (p pointer, revision uint64, err error) {
	b, revision, err := o.Storage.Pointer(ctx, region)
	if err != nil || revision == 0 {
		return pointer{Hash: make([]byte, sha256.Size)}, 0, err
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, 0, fmt.Errorf("the pointer of region %d: %w", region, err)
	}
	if len(p.Hash) != sha256.Size {
		return p, 0, fmt.Errorf("the pointer of region %d has a hash of %d bytes, want %d", region,
			len(p.Hash), sha256.Size)
	}
	return p, revision, nil
}

// position is how far a region has read an outbox.
type position struct {
	Next uint64 // number of the next message to read
	ID   []byte // ID of the message with the number Next-1
	Tick uint64 // last tick that was read
	Hash []byte // hash of the history up to Tick
}

// header precedes the state in a checkpoint.
type header struct {
	Tick uint64
	Cut  uint64     // number of the last input in the state
	From []position // by region
}

// checkpoint is a checkpoint that is being stored. It becomes the newest one when the checkpoint and the
// messages of all ticks up to it are durable.
type checkpoint struct {
	pointer
	cut    uint64
	stored Stored
}

// checkpointName returns the name of the checkpoint that an owner stores in an epoch after a tick.
func checkpointName(epoch, tick uint64) string { return fmt.Sprintf("%d-%d", epoch, tick) }

// superseded reports whether the checkpoint with a name can be removed: no process needs it, and the pointer
// cannot name it later. Earlier owners cannot move the pointer, because this owner has claimed it.
// Checkpoints of later owners have later epochs in their names. superseded must not be called while this
// owner stores a checkpoint.
func (r *owner) superseded(name string) bool {
	var epoch, tick uint64
	_, err := fmt.Sscanf(name, "%d-%d", &epoch, &tick)
	return err == nil && name == checkpointName(epoch, tick) && name != r.pointer.Checkpoint &&
		epoch <= r.epoch
}

// tidy removes the superseded checkpoints. An owner that dies, or fails to store a checkpoint, may leave a
// whole checkpoint or a part of it behind.
func (r *owner) tidy(ctx context.Context) error {
	names, err := r.o.Storage.Checkpoints(ctx, r.o.Region)
	for _, name := range names {
		if err == nil && r.superseded(name) {
			err = r.o.Storage.RemoveCheckpoint(ctx, r.o.Region, name)
		}
	}
	r.tidied = err == nil
	return err
}

// saved returns the two parts of a checkpoint after the last tick. head is the header in JSON and a line
// break. state is what the machine has saved.
func (r *owner) saved() (head, state []byte, err error) {
	if state, err = r.o.Machine.Save(); err != nil {
		return nil, nil, err
	}
	h := header{Tick: r.tick, Cut: r.cut}
	for _, f := range r.from {
		h.From = append(h.From, position{Next: f.next, ID: f.id[:], Tick: f.tick, Hash: f.hash[:]})
	}
	head, err = json.Marshal(h)
	return append(head, '\n'), state, err
}

// load sets the machine and the readers of the outboxes to the checkpoint of a pointer, if there is one.
func (r *owner) load(ctx context.Context, p pointer) error {
	r.tick, r.hash, r.cut = p.Tick, Hash(p.Hash), 0
	if p.Checkpoint == "" {
		return nil
	}
	h, state, err := r.readCheckpoint(ctx, p)
	if err != nil {
		return err
	}
	r.cut = h.Cut
	for i, at := range h.From {
		f := r.from[i]
		f.next, f.id, f.tick, f.hash = at.Next, ID(at.ID), at.Tick, Hash(at.Hash)
	}
	return r.o.Machine.Load(r.tick, state)
}

// readCheckpoint reads and checks the checkpoint of a pointer.
func (r *owner) readCheckpoint(ctx context.Context, p pointer) (h header, state []byte, err error) {
	b, err := r.o.Storage.Checkpoint(ctx, r.o.Region, p.Checkpoint)
	if err != nil {
		return h, nil, err
	}
	bad := func(what error) (header, []byte, error) {
		return h, nil, fmt.Errorf("the checkpoint %s of region %d: %w", p.Checkpoint, r.o.Region, what)
	}
	if sum := sha256.Sum256(b); !bytes.Equal(sum[:], p.Sum) {
		return bad(errors.New("it is damaged: its checksum is wrong"))
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&h); err != nil {
		return bad(err)
	}
	if h.Tick != p.Tick || len(h.From) != r.o.Regions {
		return bad(fmt.Errorf("it has tick %d and %d regions, want tick %d and %d regions", h.Tick,
			len(h.From), p.Tick, r.o.Regions))
	}
	for _, at := range h.From {
		if len(at.Hash) != sha256.Size || len(at.ID) != sha256.Size {
			return bad(errors.New("a hash or an ID has the wrong length"))
		}
	}
	return h, b[d.InputOffset()+1:], nil
}

func encodePointer(p pointer) []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // cannot happen: a pointer has only numbers, strings and bytes
	}
	return b
}
