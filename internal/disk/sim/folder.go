package sim

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"syscall"

	"github.com/vastgo/vast/internal/disk"
)

// folder is the disk as one program sees it.
type folder struct {
	disk *Disk
	life int // value of Disk.life while the program runs
}

// call locks the disk, counts a call and makes it by calling do. If fault is not nil, the call must fail: do
// returns fault or another error. The fault ErrStopped ends the program in the middle of the call.
func (f *folder) call(c Call, do func(c *Call, fault error) error) error {
	d := f.disk
	if watch := d.watcher(f.life); watch != nil {
		watch(c)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.ended(f.life) {
		return pathError(c.Op, c.Name, ErrStopped)
	}
	d.calls++
	c.Number = d.calls
	var fault error
	if d.calls == d.stopAt {
		d.stopped, d.cut = true, d.cutAt
		fault = ErrStopped
	} else {
		fault = d.fault(c.Op)
	}
	if c.Err = do(&c, fault); c.Err != nil && c.Err != io.EOF {
		c.Err = pathError(c.Op, c.Name, c.Err)
	}
	d.log = append(d.log, c)
	return c.Err
}

func (d *Disk) ended(life int) bool { return d.stopped || life != d.life }

// takesEffect reports whether a call with the given fault takes effect. If the program ends in the middle of
// the call, a random number decides.
func (d *Disk) takesEffect(fault error) bool {
	return fault == nil || fault == ErrStopped && d.random().IntN(2) == 0
}

func (f *folder) Files() (files []disk.Info, err error) {
	err = f.call(Call{Op: Files}, func(c *Call, fault error) error {
		if fault != nil {
			return fault
		}
		for _, name := range slices.Sorted(maps.Keys(f.disk.names)) {
			files = append(files, disk.Info{Name: name, Size: int64(len(f.disk.names[name].data))})
		}
		return nil
	})
	return files, err
}

func (f *folder) Create(name string) (disk.File, error) {
	h := &handle{folder: f, name: name, writes: true}
	err := f.call(Call{Op: Create, Name: name}, func(c *Call, fault error) error {
		if err := check(name); err != nil {
			return err
		}
		if f.disk.names[name] != nil {
			return fs.ErrExist
		}
		if f.disk.takesEffect(fault) {
			h.file = &file{open: 1}
			f.disk.change(change{Create, name, "", h.file})
		}
		return fault
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (f *folder) Open(name string) (disk.File, error) {
	h := &handle{folder: f, name: name}
	err := f.call(Call{Op: Open, Name: name}, func(c *Call, fault error) error {
		if err := check(name); err != nil {
			return err
		}
		if h.file = f.disk.names[name]; h.file == nil {
			return fs.ErrNotExist
		}
		if fault == nil {
			h.file.open++
		}
		return fault
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (f *folder) Rename(from, to string) error {
	return f.call(Call{Op: Rename, Name: from, To: to}, func(c *Call, fault error) error {
		if err := errors.Join(check(from), check(to)); err != nil {
			return err
		}
		source, target := f.disk.names[from], f.disk.names[to]
		switch {
		case source == nil:
			return fs.ErrNotExist
		case f.disk.refuseOpen && (source.open > 0 || target != nil && target.open > 0):
			return fs.ErrPermission
		case f.disk.takesEffect(fault):
			f.disk.change(change{Rename, from, to, source})
		}
		return fault
	})
}

func (f *folder) Remove(name string) error {
	return f.call(Call{Op: Remove, Name: name}, func(c *Call, fault error) error {
		if err := check(name); err != nil {
			return err
		}
		file := f.disk.names[name]
		switch {
		case file == nil:
			return fs.ErrNotExist
		case f.disk.refuseOpen && file.open > 0:
			return fs.ErrPermission
		case f.disk.takesEffect(fault):
			f.disk.change(change{Remove, name, "", file})
		}
		return fault
	})
}

func (f *folder) Sync() error {
	return f.call(Call{Op: SyncFolder}, func(c *Call, fault error) error {
		if f.disk.takesEffect(fault) {
			f.disk.sync()
		}
		return fault
	})
}

// change makes a change of names, which the next Sync of the folder makes durable.
func (d *Disk) change(c change) {
	c.apply(d.names)
	d.changes = append(d.changes, c)
}

// check returns fs.ErrInvalid if a folder refuses the name.
func check(name string) error {
	if disk.CheckName("", name) != nil {
		return fs.ErrInvalid
	}
	return nil
}

type handle struct {
	folder *folder
	file   *file
	name   string // name of the file when it was opened
	writes bool   // whether Create opened the file, for writing
	closed bool
}

// call is folder.call for an open file. It fails with fs.ErrClosed after Close.
func (h *handle) call(c Call, do func(c *Call, fault error) error) error {
	c.Name = h.name
	return h.folder.call(c, func(c *Call, fault error) error {
		if h.closed {
			return fs.ErrClosed
		}
		return do(c, fault)
	})
}

func (h *handle) ReadAt(p []byte, offset int64) (n int, err error) {
	err = h.call(Call{Op: ReadAt, Offset: offset}, func(c *Call, fault error) error {
		if offset < 0 {
			return fs.ErrInvalid
		}
		if fault != nil {
			return fault
		}
		if offset < int64(len(h.file.data)) {
			n = copy(p, h.file.data[offset:])
		}
		if c.Bytes = n; n < len(p) {
			return io.EOF
		}
		return nil
	})
	return n, err
}

func (h *handle) Write(p []byte) (n int, err error) {
	err = h.call(Call{Op: Write}, func(c *Call, fault error) error {
		d := h.folder.disk
		c.Offset = int64(len(h.file.data))
		if !h.writes {
			return fs.ErrPermission
		}
		n = d.written(len(p), fault)
		if room := d.room(n); room < n {
			n = room
			if fault == nil {
				fault = syscall.ENOSPC
			}
		}
		h.file.write(p[:n])
		c.Bytes = n
		return fault
	})
	return n, err
}

func (h *handle) WriteAt(p []byte, offset int64) (n int, err error) {
	err = h.call(Call{Op: Write, Offset: offset}, func(c *Call, fault error) error {
		if !h.writes {
			return fs.ErrPermission
		}
		if offset < 0 || offset+int64(len(p)) > int64(len(h.file.data)) {
			return fs.ErrInvalid
		}
		n = h.folder.disk.written(len(p), fault)
		h.file.writeAt(p[:n], int(offset))
		c.Bytes = n
		return fault
	})
	return n, err
}

// written returns how many of n bytes a call with the given fault writes.
func (d *Disk) written(n int, fault error) int {
	switch {
	case fault == ErrStopped:
		return d.random().IntN(n + 1)
	case fault != nil && n > 0:
		return d.random().IntN(n)
	}
	return n
}

func (h *handle) Sync() error {
	return h.call(Call{Op: SyncFile}, func(c *Call, fault error) error {
		switch d := h.folder.disk; {
		case d.takesEffect(fault):
			h.file.sync()
		case fault != ErrStopped:
			h.file.failSync(d.random())
		}
		return fault
	})
}

func (h *handle) Close() error {
	return h.call(Call{Op: Close}, func(c *Call, fault error) error {
		h.closed = true
		h.file.open--
		return fault
	})
}
