package globe

import (
	"os"
	"runtime"
	"sync"
)

// threadsPerCore is how many threads Go may run for each processor core.
const threadsPerCore = 4

// Cores returns the number of processor cores that the program may use. If the environment variable
// GOMAXPROCS is not set, the first call raises GOMAXPROCS above this number. The reason is that regions sync
// a file in each tick, and a thread that syncs a file keeps its place in Go's scheduler for most of the time
// of the sync.
var Cores = sync.OnceValue(func() int {
	cores := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(threadsPerCore * cores)
	}
	return cores
})
