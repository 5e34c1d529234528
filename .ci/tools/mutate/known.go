package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// known holds why no test can tell some mutants from the code.
type known map[knownKey]string

type knownKey struct{ file, function, change, text string }

// readKnown reads a file of five columns between tabs: a file's path from the working directory, a function, a change, the text of the changed line as mutate prints
// them, and why the change is none. Lines that begin with # say something else.
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
			return nil, fmt.Errorf("%s:%d: a line has a file, a function, a change, a text and a reason, with tabs between them", path, n)
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
