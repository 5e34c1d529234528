package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// known maps each known survivor, a mutant with which all tests pass, to the reason why no test can fail: the
// mutant behaves like the original code.
type known map[knownKey]string

type knownKey struct{ file, function, change, text string }

// readKnown reads the known survivors from the file at path. An empty path means no file. The file has five
// columns, separated by tabs: the path of a source file, relative to the working directory; a function; a
// change; the text of the changed line, as mutate prints it; and the reason why the change has no effect.
// Lines that begin with # are comments.
func readKnown(path string) (known, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	k := known{}
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 5 || fields[4] == "" {
			return nil, fmt.Errorf("%s:%d: a line needs a file, a function, a change, a text and a reason, "+
				"separated by tabs", path, n)
		}
		k[knownKey{fields[0], fields[1], fields[2], fields[3]}] = fields[4]
	}
	return k, lines.Err()
}

func (k known) reason(m mutant) string {
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	path, err := filepath.Rel(here, m.File)
	if err != nil {
		return ""
	}
	return k[knownKey{filepath.ToSlash(path), m.Func, m.Change, m.Text}]
}
