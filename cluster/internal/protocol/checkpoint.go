package protocol

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
)

// pointer says where the newest checkpoint of a region is. It is written as JSON, for operators.
type pointer struct {
	Epoch uint64 // of the owner that has written the pointer
	Owner uint64 // its number
	// Holder is the process whose journal has the ticks of the outbox: those up to Since of all epochs, and
	// those after it of HolderEpoch.
	Holder      string
	HolderEpoch uint64
	Since       uint64

	Tick       uint64 // the last tick in the checkpoint; 0 if there is no checkpoint
	Hash       []byte // of the history up to the tick
	Checkpoint string // its name
	Sum        []byte // the SHA-256 of the checkpoint
}

// fences reports whether an owner other than r has written the pointer, in the epoch of r or in a later one.
func (p *pointer) fences(r *owner) error {
	if p.Epoch < r.epoch || p.Epoch == r.epoch && p.Owner == r.o.Number {
		return nil
	}
	return fmt.Errorf("the pointer has the epoch %d of the owner %d: %w", p.Epoch, p.Owner, ErrFenced)
}

// pointerOf reads the pointer of a region.
func (o *Options) pointerOf(ctx context.Context, region int) (p pointer, revision uint64, err error) {
	b, revision, err := o.Storage.Pointer(ctx, region)
	if err != nil || revision == 0 {
		return pointer{Hash: make([]byte, sha256.Size)}, 0, err
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, 0, fmt.Errorf("the pointer of region %d: %w", region, err)
	}
	if len(p.Hash) != sha256.Size {
		return p, 0, fmt.Errorf("the pointer of region %d has a hash of %d bytes", region, len(p.Hash))
	}
	return p, revision, nil
}

// position is how far a region has read the outbox of another one.
type position struct {
	Next uint64 // the number of the message to read
	ID   []byte // of the message before it
	Tick uint64
	Hash []byte // of the history up to the tick
}

// header precedes the state in a checkpoint.
type header struct {
	Tick uint64
	Cut  uint64
	From []position
}

// checkpoint is a checkpoint that waits until it is durable, and until the messages of its ticks are.
type checkpoint struct {
	pointer
	cut    uint64
	stored Stored
}

// checkpointName returns the name of the checkpoint that an owner stores in its epoch.
func checkpointName(epoch, tick uint64) string { return fmt.Sprintf("%d-%d", epoch, tick) }

// superseded reports whether no process needs a checkpoint or will point at it. Earlier owners cannot move
// the pointer since this one has claimed it. This one does not call superseded while it stores a checkpoint.
// Later owners have later epochs. Names of another form are not those of checkpoints.
func (r *owner) superseded(name string) bool {
	var epoch, tick uint64
	_, err := fmt.Sscanf(name, "%d-%d", &epoch, &tick)
	return err == nil && name == checkpointName(epoch, tick) && name != r.pointer.Checkpoint &&
		epoch <= r.epoch
}

// tidy removes the checkpoints that are superseded. Processes that died have left them behind, whole or in
// part.
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

// saved returns the two parts of the checkpoint of the state after the last tick: the header in JSON with a
// line break, and what the machine has saved.
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

// load sets the region to a checkpoint.
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

// readCheckpoint reads and checks a checkpoint.
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
		return bad(fmt.Errorf("it is of tick %d and %d regions, want %d and %d", h.Tick, len(h.From), p.Tick,
			r.o.Regions))
	}
	for _, at := range h.From {
		if len(at.Hash) != sha256.Size || len(at.ID) != sha256.Size {
			return bad(errors.New("a hash is too short"))
		}
	}
	return h, b[d.InputOffset()+1:], nil
}

func encodePointer(p pointer) []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers, strings and bytes can be written as JSON
	}
	return b
}
