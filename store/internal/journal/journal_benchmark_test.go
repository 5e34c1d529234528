package journal

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/disk"
)

// BenchmarkAppendWait appends records of 64 bytes from several goroutines. Each goroutine waits until its
// record is durable before it appends the next record. Rounds of appends alternate with rounds that write and
// sync 512 bytes without a journal (bare). The metrics are medians of the rounds.
func BenchmarkAppendWait(b *testing.B) {
	for _, goroutines := range []int{1, 64} {
		b.Run(fmt.Sprint(goroutines), func(b *testing.B) {
			f, err := disk.OpenFolder(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			file, err := f.Create("bare")
			if err != nil {
				b.Fatal(err)
			}
			defer file.Close()
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			j, err := Create(f, storeID, "benchmark", Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			var bare, record, ratio []float64
			for b.Loop() {
				perSync := bareRound(b, file)
				perRecord := journalRound(b, j, goroutines)
				bare, record = append(bare, perSync), append(record, perRecord)
				ratio = append(ratio, perSync/perRecord)
			}
			b.ReportMetric(median(record), "ns/record")
			b.ReportMetric(median(bare), "ns/bare-sync")
			b.ReportMetric(median(ratio), "records/bare-sync")
		})
	}
}

// perRound is the number of measured operations of each goroutine in a round.
const perRound = 16

// bareRound returns the nanoseconds for a Write of a sector and a Sync.
//
//go:noinline
func bareRound(b *testing.B, file disk.File) float64 {
	var sector [sectorSize]byte
	start := time.Now()
	for range perRound {
		if _, err := file.Write(sector[:]); err != nil {
			b.Fatal(err)
		}
		if err := file.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(time.Since(start)) / perRound
}

// journalRound returns the nanoseconds per record.
//
//go:noinline
func journalRound(b *testing.B, j *Journal, goroutines int) float64 {
	var record [64]byte
	var all sync.WaitGroup
	start := time.Now()
	for range goroutines {
		all.Go(func() {
			for range perRound {
				p, err := j.Append(0, record[:], true)
				if err == nil {
					err = j.Wait(b.Context(), p)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return float64(time.Since(start)) / float64(perRound*goroutines)
}

func median(s []float64) float64 {
	slices.Sort(s)
	return s[len(s)/2]
}

// nowhere is a folder whose files forget what is written.
type nowhere struct{ *memory }

func (nowhere) Create(string) (disk.File, error) { return nowhereFile{}, nil }

type nowhereFile struct{ disk.File }

func (nowhereFile) Write(p []byte) (int, error)            { return len(p), nil }
func (nowhereFile) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (nowhereFile) Sync() error                            { return nil }
func (nowhereFile) Close() error                           { return nil }

// BenchmarkAppend appends records of 64 bytes without waiting, to a disk that takes no time.
func BenchmarkAppend(b *testing.B) {
	j, err := Create(nowhere{newMemory(1)}, storeID, "benchmark", Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	var record [64]byte
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		for {
			_, err := j.Append(0, record[:], false)
			if err == nil {
				break
			}
			if !errors.Is(err, ErrFull) {
				b.Fatal(err)
			}
			runtime.Gosched()
		}
	}
}
