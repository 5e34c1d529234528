package globe

import (
	"os"
	"runtime"
	"sync"
)

// threadsPerCore is how many threads Go may run for each processor core.
const threadsPerCore = 4

// Cores returns the number of processor cores that the program may use. If the environment variable
// GOMAXPROCS is not set, the first call raises Go's GOMAXPROCS above this number. The reason: regions sync a
// file in each tick, and for most of the sync, Go's scheduler counts the syncing thread as a running thread.
var Cores = sync.OnceValue(func() int {
	cores := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(threadsPerCore * cores)
	}
	return cores
})
