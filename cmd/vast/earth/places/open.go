package places

import (
	"bufio"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Attribution is the line that programs show wherever they show the embedded places.
const Attribution = "Places: GeoNames (geonames.org), CC BY 4.0"

// Options are the options of the loading functions.
type Options struct {
	// Progress, if not nil, is called by the loading goroutine from time to time, and at the end of a
	// successful load. Open and Read of a packed file call it only at the end. done and total count bytes of
	// input. total is 0 if the size is not known.
	Progress func(done, total int)
}

func (o Options) report(done, total int) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}

//go:embed places.bin
var embedded []byte

const embeddedName = "places.bin (embedded)"

// Embedded decodes the embedded list. Each call decodes the list again, which takes some tens of
// milliseconds. Embedded returns an *Error only if the program was built with a damaged places.bin.
func Embedded(o Options) (*List, error) {
	if len(embedded) < headerBytes || string(embedded[:len(magic)]) != magic {
		return nil, &Error{File: embeddedName, Reason: errUnlike.Error()}
	}
	head, payload := embedded[:headerBytes], embedded[headerBytes:]
	h, err := decodeHeader(head)
	if err == nil && h.payload != len(payload) {
		err = cutOff(io.ErrUnexpectedEOF, len(embedded), headerBytes+h.payload)
	}
	if err != nil {
		return nil, &Error{File: embeddedName, Reason: err.Error(), Err: err}
	}
	l, err := decodePacked(h, head, payload, o)
	if err != nil {
		return nil, &Error{File: embeddedName, Reason: err.Error(), Err: err}
	}
	return l, nil
}

// Open loads the list in a file of any accepted form (see the package comment). MaxPlaces and the limits on
// lines and names bound the memory. Every error is an *Error.
func Open(path string, o Options) (*List, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, openError(path, err)
	}
	if info.IsDir() { // on some systems, the error of reading a directory is unclear
		return nil, openError(path, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR})
	}
	size := 0
	if info.Mode().IsRegular() {
		size = int(info.Size())
	}
	return read(f, path, size, o)
}

// openError returns err as an Error. It leaves the file's name out of the reason, because the text of an
// Error begins with the name.
func openError(path string, err error) *Error {
	reason := err.Error()
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		reason = p.Err.Error()
	}
	return &Error{File: path, Reason: reason, Err: err}
}

// Read loads a list in any accepted form (see the package comment) from r, and reads r to its end. name is
// the name of the file in errors. Every error is an *Error.
func Read(r io.Reader, name string, o Options) (*List, error) {
	return read(r, name, 0, o)
}

// read recognises the form by the first bytes of the input. size is 0 if the size is not known.
func read(r io.Reader, name string, size int, o Options) (*List, error) {
	counted := &countingReader{r: r}
	in := bufio.NewReaderSize(counted, 64<<10)
	done := func() int { return counted.bytes - in.Buffered() }

	// The error of Peek can be ignored, because the next read returns the same error.
	if start, _ := in.Peek(2); string(start) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return nil, &Error{File: name, Reason: "damaged gzip: " + err.Error(), Err: err}
		}
		return readPlain(bufio.NewReader(unzipped), name, done, size, o)
	}
	return readPlain(in, name, done, size, o)
}

func readPlain(in *bufio.Reader, name string, done func() int, size int, o Options) (*List, error) {
	if start, _ := in.Peek(len(magic)); string(start) == magic {
		l, err := readPacked(in, o, done, size)
		if err != nil {
			return nil, &Error{File: name, Reason: err.Error(), Err: err}
		}
		return l, nil
	}
	l, line, err := readText(in, o, done, size)
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			// The text of an Error begins with the file's name, so the reason leaves it out.
			return nil, &Error{File: name, Reason: p.Err.Error(), Err: err}
		}
		return nil, &Error{File: name, Line: line, Reason: err.Error(), Err: err}
	}
	return l, nil
}

// countingReader counts the bytes read from a file, before decompression.
type countingReader struct {
	r     io.Reader
	bytes int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.bytes += n
	return n, err
}

// Error is the reason why a list of places could not be loaded.
type Error struct {
	File   string // as given to Open or Read; "places.bin (embedded)" for Embedded
	Line   int    // number of the wrong line, from 1; 0 if the error is not in a line
	Reason string // what is wrong
	Err    error  // the cause, or nil
}

// Error returns "file:line: reason", or "file: reason" if Line is 0.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
}

// Unwrap returns the cause, so that errors.Is(err, fs.ErrNotExist) works.
func (e *Error) Unwrap() error { return e.Err }
