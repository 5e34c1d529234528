package cluster

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/vastgo/vast/internal/disk"
)

const (
	identityName = "process" // the file with the name of the process
	identityNew  = "process.new"
)

var identityValid = regexp.MustCompile(`^[0-9a-f]{16}$`)

// identity returns the name of the process that uses a folder. The name must not change: for each region, the
// server keeps the name of the process whose journal can restore the region's messages.
func identity(dir string) (string, error) {
	folder, err := disk.OpenFolder(dir)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, identityName)
	file, err := folder.Open(identityName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newIdentity(folder)
	case err != nil:
		return "", err
	}
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<10))
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	name := strings.TrimSuffix(string(text), "\n")
	if !identityValid.MatchString(name) {
		return "", fmt.Errorf("%s is damaged: use another folder, or move this folder away and start again; "+
			"the journals in this folder are needed only after a power failure", path)
	}
	return name, nil
}

// newIdentity chooses a name and writes it into the folder. If newIdentity is interrupted, the folder has the
// whole name or no name.
func newIdentity(folder disk.Folder) (string, error) {
	if err := folder.Remove(identityNew); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	file, err := folder.Create(identityNew)
	if err != nil {
		return "", err
	}
	name := randomName()
	_, err = io.WriteString(file, name+"\n")
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	if err := folder.Rename(identityNew, identityName); err != nil {
		return "", err
	}
	return name, folder.Sync()
}

func randomName() string { return fmt.Sprintf("%016x", randomNumber()) }

func randomNumber() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // Read never fails
	return binary.LittleEndian.Uint64(b[:])
}
