package sim

import "syscall"

// Faults are the probabilities, from 0 to 1, with which calls fail. A failed call returns an error of the
// operating system, and the program continues.
type Faults struct {
	// WriteEIO and WriteENOSPC are the probabilities with which Write and WriteAt fail with EIO and with
	// ENOSPC. A failed call may write a part of the bytes.
	WriteEIO, WriteENOSPC float64
	// SyncFile is the probability with which Sync of a file fails with EIO. A failed Sync loses at least one
	// of the sectors that were not synced, and marks all of them as synced, as on Linux. Until the power
	// fails, programs still read the bytes of a lost sector. A later Sync makes these bytes durable only if
	// the program has written to the sector again.
	SyncFile float64
	// Folder is the probability with which Create, Rename, Remove and Sync of the folder fail with EIO. A
	// failed call does nothing.
	Folder float64
	// Read is the probability with which Open, ReadAt and Files fail with EIO.
	Read float64
}

// SetFaults sets the probabilities with which calls fail. They are 0 on a new disk.
func (d *Disk) SetFaults(f Faults) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.faults = f
}

// FailAt makes one call fail as [Faults] describes. A Write or WriteAt fails with EIO or ENOSPC. Close does
// not fail. Calls are counted as for [Disk.Calls], from 1. FailAt replaces an earlier FailAt. FailAt(0)
// cancels it.
func (d *Disk) FailAt(call int64) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.failAt = call
}

// SetCapacity limits the total size of all files in bytes. A Write beyond the limit writes the bytes that fit
// and returns ENOSPC. SetCapacity(0) removes the limit.
func (d *Disk) SetCapacity(bytes int64) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.capacity = bytes
}

// RefuseOpen makes Rename and Remove refuse open files with an error that is fs.ErrPermission, as on Windows.
func (d *Disk) RefuseOpen() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.refuseOpen = true
}

func (d *Disk) fault(op Op) error {
	planned := d.calls == d.failAt
	happens := func(chance float64) bool { return planned || chance > 0 && d.random().Float64() < chance }
	switch op {
	case Write:
		if planned && d.random().IntN(2) == 0 {
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
