package bench

import (
	"runtime"

	"github.com/vastgo/vast/vm"
)

// residentByCounters adds up what Go's heap and the regions say of themselves, for systems that do not tell of the process.
func residentByCounters() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse) + vm.Snapshot(true).Total().Resident
}
