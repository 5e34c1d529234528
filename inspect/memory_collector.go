package inspect

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/vastgo/vast/vm"
)

// What is told of memory outside Go's heap, by what it is for.
var (
	descReserved  = desc("memory_reserved_bytes", "Addresses reserved outside Go's heap.", "purpose")
	descCommitted = desc("memory_committed_bytes", "Memory outside Go's heap that may be touched.", "purpose")
	descResident  = desc("memory_resident_bytes", "Memory outside Go's heap that is there.", "purpose")
	descLeaked    = desc("memory_leaked_bytes", "Addresses reserved by what was dropped without Close.", "purpose")
	descRegions   = desc("memory_regions", "Reservations.", "purpose")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("vast_"+name, help, labels, nil)
}

// memoryCollector tells of the program's memory.
type memoryCollector struct{}

// NewMemoryCollector returns the metrics of all memory that the program holds outside of Go's heap (see vm.Snapshot), by
// purpose: of all worlds and containers, so register it once. An [Inspector]'s /metrics has them already. The first 200
// purposes in the order of the alphabet are told of one by one, and the others in one as "other". A scrape takes a system
// call for each 16 Ki committed pages.
func NewMemoryCollector() prometheus.Collector { return memoryCollector{} }

// Describe is for prometheus.Collector.
func (memoryCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{descReserved, descCommitted, descResident, descLeaked, descRegions} {
		to <- d
	}
}

// Collect is for prometheus.Collector.
func (memoryCollector) Collect(to chan<- prometheus.Metric) {
	var sums labelled[vm.PurposeStats]
	for _, p := range vm.Snapshot(true).Purposes {
		sum := sums.of(p.Purpose)
		sum.Reserved += p.Reserved
		sum.Committed += p.Committed
		sum.Resident += p.Resident
		sum.Leaked += p.Leaked
		sum.Regions += p.Regions
	}
	for label, sum := range sums.all() {
		for _, m := range [...]struct {
			desc  *prometheus.Desc
			value int
		}{{descReserved, sum.Reserved}, {descCommitted, sum.Committed}, {descResident, sum.Resident}, {descLeaked, sum.Leaked},
			{descRegions, sum.Regions}} {
			to <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(m.value), label)
		}
	}
}
