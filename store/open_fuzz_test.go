package store

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"runtime"
	"testing"

	"github.com/vastgo/vast/internal/disk/sim"
)

func sealCheckpoint(file []byte) {
	le := binary.LittleEndian
	for at := len(magic); at+bytesHeader <= len(file); {
		h := file[at : at+bytesHeader]
		at += bytesHeader
		size := le.Uint64(h[24:])
		if size > uint64(len(file)-at) {
			return
		}
		begin := at
		content := file[at : at+int(size)]
		at += int(size)
		if le.Uint32(h) == uint32(blockHeaders) && le.Uint16(file[14:]) == versionPlaced {
			for n := le.Uint64(h[16:]); n > 0 && len(content) >= bytesHeader; n-- {
				at += sealHeader(content, file[at:])
				content = content[bytesHeader:]
			}
		}
		sealHeader(h, file[begin:])
	}
}

// sealHeader corrects the checksums in h, the header of a block. rest is the part of the file that begins
// with the content of the block. sealHeader returns the number of bytes of the content.
func sealHeader(h, rest []byte) int {
	le := binary.LittleEndian
	n := int(min(le.Uint64(h[24:]), uint64(len(rest))))
	le.PutUint32(h[32:], crc32.Checksum(rest[:n], castagnoli))
	le.PutUint32(h[36:], crc32.Checksum(h[:36], castagnoli))
	return n
}

func sealJournal(file []byte) {
	for ; len(file) >= 512; file = file[512:] {
		binary.LittleEndian.PutUint32(file, crc32.Checksum(file[4:512], castagnoli))
	}
}

// FuzzOpen opens a folder with any bytes in the checkpoint and the journal. Either open or Recover returns an
// error, or the world works. The two calls allocate at most 32 MiB, plus 100 times the size of the files.
func FuzzOpen(f *testing.F) {
	d := sim.New(1)
	l := &life{island: newIsland()}
	var err error
	if l.st, err = open(d.Folder(), l.w, islandOptions()); err != nil {
		f.Fatal(err)
	}
	l.fill()
	if err := l.st.Recover(l.apply, l.tick); err != nil {
		f.Fatal(err)
	}
	for i := range 6 {
		if _, err := l.st.Record([]byte{byte(i), 0, 0, 0, 0, 0, 0, 0}); err != nil {
			f.Fatal(err)
		}
		if err := l.st.Tick(l.tick); err != nil {
			f.Fatal(err)
		}
		kind := []byte{recordKept, recordTick, recordDrop}[i%3]
		numbers := bytes.Repeat([]byte{byte(i)}, numbersOf[kind])
		if _, err := l.st.journal.Append(kind, numbers, false); err != nil {
			f.Fatal(err)
		}
	}
	if _, err := l.st.journal.Append(recordBreak, nil, false); err != nil {
		f.Fatal(err)
	}
	if err := l.st.journal.Flush(); err != nil {
		f.Fatal(err)
	}
	l.idle()
	d.Kill()
	d.Restart()
	const checkpoint, segment = "checkpoint-00000001", "journal-00000002"
	for _, sealed := range []bool{false, true} {
		f.Add(d.Bytes(checkpoint), d.Bytes(segment), sealed)
		f.Add(d.Bytes(checkpoint), d.Bytes(segment)[:512], sealed)
		f.Add([]byte("vast world"), []byte("vast journal"), sealed)
	}
	if err := l.end(); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, world, journal []byte, sealed bool) {
		world, journal = bytes.Clone(world), bytes.Clone(journal)
		if sealed {
			sealCheckpoint(world)
			sealJournal(journal)
		}
		d := sim.New(1)
		d.Put(checkpoint, world)
		d.Put(segment, journal)
		l := &life{island: newIsland()}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o := islandOptions()
		var err error
		if l.st, err = open(d.Folder(), l.w, o); err == nil {
			err = l.st.Recover(l.apply, l.tick)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20+100*uint64(len(world)+len(journal)) {
			t.Errorf("opening files of %d bytes has allocated %d bytes", len(world)+len(journal), n)
		}
		if err == nil {
			for range 3 {
				if _, err := l.st.Record(make([]byte, 8)); err != nil {
					t.Error(err)
				}
				if err := l.st.Tick(l.tick); err != nil {
					t.Error(err)
				}
			}
			l.hash()
			if err := Save(l.w, io.Discard, o); err != nil {
				t.Error(err)
			}
			if err := l.st.Close(); err != nil {
				t.Error(err)
			}
		}
		d.Kill()
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}
