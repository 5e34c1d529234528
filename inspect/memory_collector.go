package inspect

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/vastgo/vast/vm"
)

// Metrics of the memory outside of Go's heap, by purpose.
var (
	descReserved  = desc("memory_reserved_bytes", "Address space reserved outside of Go's heap.", "purpose")
	descCommitted = desc("memory_committed_bytes", "Committed memory outside of Go's heap.", "purpose")
	descResident  = desc("memory_resident_bytes", "Resident memory outside of Go's heap.", "purpose")
	descLeaked    = desc("memory_leaked_bytes",
		"Address space of regions that were garbage collected without Close.", "purpose")
	descRegions = desc("memory_regions", "Number of reservations.", "purpose")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("vast_"+name, help, labels, nil)
}

type memoryCollector struct{}

// NewMemoryCollector returns a collector for the program's memory outside of Go's heap: see vm.Snapshot.
// Register only one memory collector, because its metrics cover all worlds and containers. An [Inspector]
// already serves these metrics at /metrics. The label "purpose" has a value for each of the first 200
// purposes in alphabetical order; the value "other" sums up all further purposes. A scrape makes one system
// call for every 16 Ki pages (1 Ki on Windows) of each committed range.
func NewMemoryCollector() prometheus.Collector { return memoryCollector{} }

// Describe implements prometheus.Collector.
func (memoryCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{descReserved, descCommitted, descResident, descLeaked,
		descRegions} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
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
		}{{descReserved, sum.Reserved}, {descCommitted, sum.Committed}, {descResident, sum.Resident},
			{descLeaked, sum.Leaked},
			{descRegions, sum.Regions}} {
			to <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(m.value), label)
		}
	}
}
