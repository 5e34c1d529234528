package inspect

// Costs tell which systems take the time and which columns the memory. Times are in seconds, sizes in bytes.
type Costs struct {
	At      float64      `json:"at"`      // when they were taken, in seconds since 1970
	Systems []SystemCost `json:"systems"` // the dearest first
	Columns []ColumnCost `json:"columns"` // the largest first; none before the world let the inspector look
	// MoreSystems and MoreColumns are how many were left out.
	MoreSystems int `json:"moreSystems"`
	MoreColumns int `json:"moreColumns"`
}

// SystemCost is what a system of the world's schedule takes.
type SystemCost struct {
	Name  string  `json:"name"`
	Phase string  `json:"phase"`
	Runs  uint64  `json:"runs"`  // so far
	Total float64 `json:"total"` // of all runs
	Load  float64 `json:"load"`  // seconds of the last second
	Last  float64 `json:"last"`
	P50   float64 `json:"p50"` // of the last 256 runs, as P99
	P99   float64 `json:"p99"`
	Worst float64 `json:"worst"` // of all runs
}

// ColumnCost is what a column of the world takes.
type ColumnCost struct {
	Name      string `json:"name"`
	Type      string `json:"type"` // of an element; empty for a tag
	Size      int    `json:"size"` // of an element
	Entities  int    `json:"entities"`
	Slots     int    `json:"slots"` // of the 64-slot words in which some entity has the component
	Reserved  int    `json:"reserved"`
	Committed int    `json:"committed"`
}
