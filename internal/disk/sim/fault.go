package sim

import "syscall"

// Faults are the chances, from 0 to 1, with which calls fail. A failed call returns an error of the system's
// kind, and the program goes on.
type Faults struct {
	// WriteEIO and WriteENOSPC are those of Write. A part of the bytes may be written.
	WriteEIO, WriteENOSPC float64
	// SyncFile is that of Sync of a file: EIO. Sectors that were not synced count as synced, as on Linux, and
	// at least one of them is lost when the power goes, even if a later Sync succeeds. Programs read its
	// bytes until then.
	SyncFile float64
	// Folder is that of Create, Rename, Remove and Sync of the folder: EIO. The call has done nothing.
	Folder float64
	// Read is that of Open, ReadAt and Files: EIO.
	Read float64
}

// SetFaults sets the chances with which calls fail. At first all chances are 0.
func (d *Disk) SetFaults(f Faults) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.faults = f
}

// FailAt makes one call fail, as [Faults] does; a Write fails with EIO or ENOSPC. Calls are counted from 1,
// over the life of the disk. 0 stands for no call. Close does not fail.
func (d *Disk) FailAt(call int64) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.failAt = call
}

// SetCapacity limits the bytes of all files together. A Write beyond it writes what fits and returns ENOSPC.
// 0 stands for no limit.
func (d *Disk) SetCapacity(bytes int64) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.capacity = bytes
}

// RefuseOpen makes Rename and Remove refuse open files with an error that is fs.ErrPermission, as on Windows.
func (d *Disk) RefuseOpen() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.refuse = true
}

// fault returns the error with which a call fails, or nil.
func (d *Disk) fault(op Op) error {
	must := d.calls == d.failAt
	happens := func(chance float64) bool { return must || chance > 0 && d.random().Float64() < chance }
	switch op {
	case Write:
		if must && d.random().IntN(2) == 0 {
			return syscall.ENOSPC
		}
		if happens(d.faults.WriteEIO) {
			return syscall.EIO
		}
		if happens(d.faults.WriteENOSPC) {
			return syscall.ENOSPC
		}
	case SyncFile:
		if happens(d.faults.SyncFile) {
			return syscall.EIO
		}
	case Create, Rename, Remove, SyncFolder:
		if happens(d.faults.Folder) {
			return syscall.EIO
		}
	case Open, ReadAt, Files:
		if happens(d.faults.Read) {
			return syscall.EIO
		}
	}
	return nil
}

// room returns how many of n bytes fit on the disk.
func (d *Disk) room(n int) int {
	if d.capacity == 0 {
		return n
	}
	free := d.capacity
	for _, f := range d.names {
		free -= int64(len(f.data))
	}
	return int(min(int64(n), max(0, free)))
}
