package trial

import (
	"errors"
	"math"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/vastgo/vast/cluster/internal/plan"
	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/measure"
)

// measureDisk measures the times of small and large writes with a sync, the spread of the times of small
// writes, and the number of files that the disk syncs at the same time.
func measureDisk(dir string, c *plan.Costs) (err error) {
	const most, chunk = 32, 512 << 10
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := disk.MakeFolder(dir); err != nil {
		return err
	}
	folder, err := disk.OpenFolder(dir)
	if err != nil {
		return err
	}
	one, ofSmall, err := measureSyncs(folder, "one", 1, small)
	if err != nil {
		return err
	}
	_, ofChunk, err := measureSyncs(folder, "chunk", 1, chunk)
	if err != nil {
		return err
	}
	c.Sync, c.SyncSpread = ofSmall.Median(), spread(ofSmall)
	c.SyncByte = max(ofChunk.Median()-c.Sync, 0) * 1000 / chunk
	c.SyncsAtOnce = 1
	for files := 2; files <= most; files *= 2 {
		rate, _, err := measureSyncs(folder, "of"+strconv.Itoa(files), files, small)
		if err != nil {
			return err
		}
		c.SyncsAtOnce = max(c.SyncsAtOnce, int(math.Round(rate/one)))
	}
	return nil
}

// measureSyncs makes some files and writes to all of them at the same time, with a sync after each write.
// rate is the number of syncs of all files in a second. times has the times of the first file, each for a
// write and a sync, in microseconds.
func measureSyncs(folder disk.Folder, name string, files, size int,
) (rate float64, times measure.Samples, err error) {
	const writes = 200
	var all sync.WaitGroup
	errs := make([]error, files)
	taken := make([]measure.Samples, files)
	began := time.Now()
	for i := range files {
		all.Go(func() { taken[i], errs[i] = syncFile(folder, name+"-"+strconv.Itoa(i), writes, size) })
	}
	all.Wait()
	return float64(files*writes) / time.Since(began).Seconds(), taken[0], errors.Join(errs...)
}

func syncFile(folder disk.Folder, name string, writes, size int) (times measure.Samples, err error) {
	f, err := folder.Create(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := make([]byte, size)
	for range writes {
		began := time.Now()
		if _, err := f.Write(b); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		times = append(times, micros(time.Since(began)))
	}
	return times, nil
}
