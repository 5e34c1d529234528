package value

import (
	"fmt"
	"strconv"
	"strings"
)

// Error says why an edit is refused.
type Error struct {
	Path    string // path of the refused field; empty for the whole value
	Message string // what is wrong or what is allowed
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return cut(e.Path, maxShown) + ": " + e.Message
}

func fault(path, format string, args ...any) *Error {
	return &Error{path, fmt.Sprintf(format, args...)}
}

const (
	maxPath  = 1000 // largest size of a path in bytes
	maxShown = 200  // largest size of a path in a message, in bytes
	maxSteps = 64   // largest number of steps of a path
)

// step is a step of a path: a field of a struct or an element of an array or a slice.
type step struct {
	name  string // name of the struct's field; empty for an element
	index int    // index of the element
}

func parse(path string) ([]step, *Error) {
	if len(path) > maxPath {
		return nil, fault("", "a path has at most %d bytes, not %d", maxPath, len(path))
	}
	var steps []step
	for rest := path; rest != ""; {
		if len(steps) == maxSteps {
			return nil, fault(path, "a path has at most %d steps", maxSteps)
		}
		here := path[:len(path)-len(rest)]
		if rest[0] == '[' {
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, fault(path, "the [ after %s is never closed", quote(here))
			}
			digits := rest[1:end]
			if strings.HasPrefix(digits, `"`) {
				return nil, fault(here, "a value in a map is read-only")
			}
			i, err := strconv.ParseUint(digits, 10, 31)
			if err != nil {
				return nil, fault(path, "an index must be a whole number from 0 on, not %s", quote(digits))
			}
			steps = append(steps, step{index: int(i)})
			rest = rest[end+1:]
			continue
		}
		if here != "" {
			if rest[0] != '.' {
				return nil, fault(path, "%s must be followed by . or [: write a path such as at.X or "+
					"grid[1].Y", quote(here))
			}
			rest = rest[1:]
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil, fault(path, "the name of a field is missing: write a path such as at.X or grid[1].Y")
		}
		steps = append(steps, step{name: rest[:end]})
		rest = rest[end:]
	}
	return steps, nil
}

func quote(s string) string { return strconv.Quote(cut(s, 40)) }
