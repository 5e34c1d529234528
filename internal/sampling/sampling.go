// Package sampling reads the environment variable VAST_GUARD. The variable makes some ordinary containers
// guard a part of their memory: a heap guards random small allocations. Arenas, arrays and tables decommit,
// after random removals, all pages that their elements do not need. An access to a freed guarded allocation,
// or to a decommitted page, is a memory fault.
package sampling

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
)

// Variable is the name of the environment variable.
const Variable = "VAST_GUARD"

// every is the result of [Every]. The variable is read once, when the program starts.
var every = read(os.Getenv(Variable), os.Stderr)

// Every returns n if the variable is 1/n, and 0 if nothing is guarded.
func Every() int { return every }

// Pick reports whether the caller must guard its memory. It returns true at random: if [Every] returns n, for
// one of n calls on average. If nothing is guarded, Pick costs only a branch.
func Pick() bool { return every > 0 && rand.IntN(every) == 0 }

// read parses a value of the variable. It ignores an invalid value and prints a message about it to w.
func read(value string, w io.Writer) int {
	switch value {
	case "", "0", "off":
		return 0
	}
	if of, found := strings.CutPrefix(value, "1/"); found {
		// guard.NewSampler has the same bound. ParseUint accepts neither signs nor spaces.
		if n, err := strconv.ParseUint(of, 10, 31); err == nil && n > 0 {
			return int(n)
		}
	}
	fmt.Fprintf(w, "vast: %s=%q is ignored: write %[1]s=1/1000 to guard one in a thousand allocations "+
		"(1/1 to 1/2147483647), or off\n", Variable, value)
	return 0
}
