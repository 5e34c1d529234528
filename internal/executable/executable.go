// Package executable identifies the build of the running program.
package executable

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// Path returns the path of the program's file. Tests replace Path on systems where a program has no file.
var Path = os.Executable

// Hash returns the first half of the SHA-256 hash of the program's file, in hexadecimal.
func Hash() (string, error) {
	path, err := Path()
	if err != nil {
		return "", fmt.Errorf("the executable file is not known, so set Options.Build: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the executable file cannot be read, so set Options.Build: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("the executable file cannot be read, so set Options.Build: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
