package inspect

// Costs lists the time that systems need and the memory that columns need. Times are in seconds, sizes in
// bytes.
type Costs struct {
	At          float64      `json:"at"`          // time of the measurement, in seconds since 1970
	Systems     []SystemCost `json:"systems"`     // highest Load first
	Columns     []ColumnCost `json:"columns"`     // largest Committed first; empty until the world is read
	MoreSystems int          `json:"moreSystems"` // number of systems that are not listed
	MoreColumns int          `json:"moreColumns"` // number of columns that are not listed
}

// SystemCost is the time that a system of the world's schedule needs.
type SystemCost struct {
	Name  string  `json:"name"`
	Phase string  `json:"phase"`
	Runs  uint64  `json:"runs"`  // number of runs so far
	Total float64 `json:"total"` // duration of all runs together
	Load  float64 `json:"load"`  // run time per second of real time, over the last second
	Last  float64 `json:"last"`  // duration of the last run
	P50   float64 `json:"p50"`   // median duration of the last 256 runs
	P99   float64 `json:"p99"`   // 99% quantile of the durations of the last 256 runs
	Worst float64 `json:"worst"` // duration of the longest run
}

// ColumnCost is the memory that a column of the world needs.
type ColumnCost struct {
	Name      string `json:"name"`
	Type      string `json:"type"`     // type of an element; empty for a tag
	Size      int    `json:"size"`     // size of an element
	Entities  int    `json:"entities"` // number of entities that have the component
	Slots     int    `json:"slots"`    // number of slots that a query for the column visits
	Reserved  int    `json:"reserved"` // address space
	Committed int    `json:"committed"`
}
