package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/vastgo/vast/internal/disk"
)

// memory is a folder in memory that tracks which contents are durable.
type memory struct {
	mu      sync.Mutex
	rng     *rand.Rand
	names   map[string]*content // the files as the program sees them
	durable map[string]*content // the files at the last Sync of the folder
	pending []change            // changes since the last Sync of the folder
	syncs   int                 // number of successful Syncs of files
	off     bool                // each call fails
	offAt   int                 // number of the call at which the power goes off, or 0
	calls   []string
	// fail returns the error of a call. Its argument is the text of the call, such as "sync
	// journal-00000001". A Write that fails writes a random number of its first bytes.
	fail func(call string) error
}

type change struct {
	name string
	to   *content // the new content; nil if the file was removed
}

type content struct {
	data  []byte
	state []sectorState
	old   map[int][]byte // durable contents of sectors that were overwritten and not synced, by index
}

// sectorState says whether a written sector is on the disk.
type sectorState byte

const (
	dirty sectorState = iota
	durable
	lost // a Sync has failed; later Syncs skip the sector
)

var errOff = errors.New("the power is off")

func newMemory(seed uint64) *memory {
	return &memory{rng: rand.New(rand.NewPCG(seed, 1)), names: map[string]*content{},
		durable: map[string]*content{}}
}

// call notes a call, and returns its error. The caller holds mu.
func (m *memory) call(call string) error {
	m.calls = append(m.calls, call)
	if m.off {
		return errOff
	}
	if len(m.calls) == m.offAt {
		m.off = true
		return errOff
	}
	if m.fail != nil {
		return m.fail(call)
	}
	return nil
}

func (m *memory) Files() ([]disk.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var files []disk.Info
	for _, name := range slices.Sorted(maps.Keys(m.names)) {
		files = append(files, disk.Info{Name: name, Size: int64(len(m.names[name].data))})
	}
	return files, m.call("files")
}

func (m *memory) Create(name string) (disk.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("create " + name); err != nil {
		return nil, err
	}
	if m.names[name] != nil {
		return nil, fs.ErrExist
	}
	c := &content{old: map[int][]byte{}}
	m.names[name] = c
	m.pending = append(m.pending, change{name, c})
	return &handle{m, name, c}, nil
}

func (m *memory) Open(name string) (disk.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("open " + name); err != nil {
		return nil, err
	}
	if m.names[name] == nil {
		return nil, fs.ErrNotExist
	}
	return &handle{m, name, m.names[name]}, nil
}

func (m *memory) Rename(from, to string) error { panic("the journal renames nothing") }

func (m *memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("remove " + name); err != nil {
		return err
	}
	if m.names[name] == nil {
		return fs.ErrNotExist
	}
	delete(m.names, name)
	m.pending = append(m.pending, change{name: name})
	return nil
}

func (m *memory) Sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("sync"); err != nil {
		return err
	}
	m.durable, m.pending = maps.Clone(m.names), nil
	return nil
}

type handle struct {
	m    *memory
	name string
	*content
}

func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if err := h.m.call(fmt.Sprintf("read %s", h.name)); err != nil {
		return 0, err
	}
	if off >= int64(len(h.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) Write(p []byte) (int, error) {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	err := h.m.call("write " + h.name)
	if err != nil {
		p = p[:h.m.rng.IntN(len(p)+1)]
	}
	h.data = append(h.data, p...)
	for len(h.state) < (len(h.data)+sectorSize-1)/sectorSize {
		h.state = append(h.state, dirty)
	}
	return len(p), err
}

func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if off+int64(len(p)) > int64(len(h.data)) {
		panic("the journal writes beyond the end of its file")
	}
	err := h.m.call("write " + h.name)
	if err != nil {
		p = p[:h.m.rng.IntN(len(p)+1)]
	}
	for i := int(off) / sectorSize; i*sectorSize < int(off)+len(p); i++ {
		if h.state[i] == durable {
			h.old[i] = slices.Clone(h.data[i*sectorSize : min((i+1)*sectorSize, len(h.data))])
		}
		h.state[i] = dirty
	}
	copy(h.data[off:], p)
	return len(p), err
}

func (h *handle) Sync() error {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	err := h.m.call("sync " + h.name)
	to := durable
	if err != nil {
		to = lost
	} else {
		h.m.syncs++
	}
	for i, s := range h.state {
		if s == dirty && err != errOff {
			h.state[i] = to
			if to == durable {
				delete(h.old, i)
			}
		}
	}
	return err
}

func (h *handle) Close() error { return nil }

func (m *memory) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.off = true
}

func (m *memory) killed() *memory {
	return &memory{rng: m.rng, names: m.names, durable: m.durable, pending: m.pending}
}

// crashed returns the folder after a power cut. A random part of the changes that were not synced survives.
func (m *memory) crashed() *memory {
	names := maps.Clone(m.durable)
	changes := m.pending
	subset := m.rng.IntN(2) == 0
	if !subset {
		changes = changes[:m.rng.IntN(len(changes)+1)]
	}
	for _, c := range changes {
		switch {
		case subset && m.rng.IntN(2) == 0:
		case c.to == nil:
			delete(names, c.name)
		default:
			names[c.name] = c.to
		}
	}
	n := &memory{rng: m.rng, names: map[string]*content{}}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n.names[name] = names[name].crashed(m.rng)
	}
	n.durable = maps.Clone(n.names)
	return n
}

func (c *content) crashed(rng *rand.Rand) *content {
	data := slices.Clone(c.data)
	luck := rng.IntN(5) // the probability that a dirty sector survives, in quarters
	size := 0
	for i, s := range c.state {
		b := data[i*sectorSize : min((i+1)*sectorSize, len(data))]
		if s == durable || s == dirty && rng.IntN(4) < luck {
			size = i*sectorSize + len(b)
		} else {
			clear(b)
			if old := c.old[i]; old != nil {
				copy(b, old)
				size = i*sectorSize + len(old)
			}
		}
	}
	if rng.IntN(2) == 0 {
		size += rng.IntN(len(data) - size + 1) // the file has grown, but the new content is not on the disk
	}
	n := &content{data: data[:size], old: map[int][]byte{}}
	for range (size + sectorSize - 1) / sectorSize {
		n.state = append(n.state, durable)
	}
	return n
}

// clone returns an independent copy, in which the names of all files are durable.
func (m *memory) clone() *memory {
	n := newMemory(0)
	for name, c := range m.names {
		n.names[name] = &content{slices.Clone(c.data), slices.Clone(c.state), maps.Clone(c.old)}
	}
	n.durable = maps.Clone(n.names)
	return n
}

// failing returns a function for memory.fail. The nth call whose text begins with prefix returns err. nth
// counts from 1.
func failing(prefix string, nth int, err error) func(string) error {
	return func(call string) error {
		if strings.HasPrefix(call, prefix) {
			nth--
			if nth == 0 {
				return err
			}
		}
		return nil
	}
}
