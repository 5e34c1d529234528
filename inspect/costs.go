package inspect

// Costs lists the time that systems take and the memory that columns take. Times are in seconds, sizes in
// bytes.
type Costs struct {
	At      float64      `json:"at"`      // time of the measurement, in seconds since 1970
	Systems []SystemCost `json:"systems"` // highest Load first
	Columns []ColumnCost `json:"columns"` // largest first; empty until the world admits the first look
	// MoreSystems and MoreColumns count the entries that Systems and Columns leave out.
	MoreSystems int `json:"moreSystems"`
	MoreColumns int `json:"moreColumns"`
}

// SystemCost is the time that a system of the world's schedule takes.
type SystemCost struct {
	Name  string  `json:"name"`
	Phase string  `json:"phase"`
	Runs  uint64  `json:"runs"`  // number of runs so far
	Total float64 `json:"total"` // of all runs
	Load  float64 `json:"load"`  // seconds of run time per second, over the last second
	Last  float64 `json:"last"`  // of the last run
	P50   float64 `json:"p50"`   // median of the last 256 runs; P99 is a quantile of the same runs
	P99   float64 `json:"p99"`
	Worst float64 `json:"worst"` // of all runs
}

// ColumnCost is the memory that a column of the world takes.
type ColumnCost struct {
	Name      string `json:"name"`
	Type      string `json:"type"` // of an element; empty for a tag
	Size      int    `json:"size"` // of an element
	Entities  int    `json:"entities"`
	Slots     int    `json:"slots"` // of all 64-slot words in which at least one entity has the component
	Reserved  int    `json:"reserved"`
	Committed int    `json:"committed"`
}
