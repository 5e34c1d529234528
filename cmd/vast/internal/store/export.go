package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	library "github.com/vastgo/vast/store"
)

// load loads a moment of a folder, or the world of a saved file. Moment 0 is the newest.
func load(path string, moment uint64) (*vast.World, *library.Report, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	o := vast.Options{Name: filepath.Base(path)}
	if info.IsDir() {
		return library.LoadMoment(path, moment, o)
	}
	if moment > 0 {
		return nil, nil, fmt.Errorf("%s is a single file and has no moments: leave out -moment", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return library.LoadAny(f, o)
}

// verifyMoment returns an error if a checkpoint file of the moment, or the file that Save wrote, is damaged.
// load alone does not find all damage, because it may skip parts of the files.
func verifyMoment(path string, moment uint64) error {
	files, err := library.Verify(path, false)
	if err != nil {
		return err
	}
	checkpoints := make(map[uint64]library.File)
	newest := uint64(0)
	for _, f := range files {
		switch f.Kind {
		case library.FileWorld:
			return f.Err
		case library.FileCheckpoint:
			checkpoints[f.Number] = f
			newest = max(newest, f.Number)
		}
	}
	if moment == 0 {
		moment = newest
	}
	for ; moment > 0; moment = checkpoints[moment].Base {
		if f := checkpoints[moment]; f.Err != nil {
			return fmt.Errorf("%s: %w", f.Name, f.Err)
		}
	}
	return nil
}

func export(o options, stdout, stderr io.Writer) int {
	w, report, err := load(o.path, o.moment)
	if err != nil {
		return finish(stderr, "store export", err)
	}
	for _, name := range report.Dropped {
		fmt.Fprintf(stderr, "# %q is left out: only the program that saved it can read it\n", name)
	}
	if err = verifyMoment(o.path, o.moment); err == nil {
		err = exportTo(w, o.out, stdout)
	}
	return finish(stderr, "store export", errors.Join(err, w.Close()))
}

// exportTo writes a world into a new file, or to stdout if path is empty.
func exportTo(w *vast.World, path string, stdout io.Writer) (err error) {
	var resources library.Options
	for _, v := range probe.Resources(w) {
		resources.Resources = append(resources.Resources, v.Type())
	}
	if path == "" {
		return library.WriteJSON(w, stdout, resources)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	if err = library.WriteJSON(w, b, resources); err == nil {
		err = b.Flush()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
