package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// Create makes a new file and calls write with the file, or with stdout if path is empty. Create buffers the
// output. If write returns an error, or the file cannot be written or closed, Create removes the file. If the
// path exists, the error wraps fs.ErrExist, and the file at the path stays.
func Create(path string, stdout io.Writer, write func(to io.Writer) error) (err error) {
	buffered := func(to io.Writer) error {
		b := bufio.NewWriterSize(to, 64<<10)
		if err := write(b); err != nil {
			return err
		}
		return b.Flush()
	}
	if path == "" {
		return buffered(stdout)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err = errors.Join(buffered(f), f.Close()); err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
