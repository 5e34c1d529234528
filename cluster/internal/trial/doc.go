// Package trial runs clusters in one process and measures them. The commands bench and simulate share it.
//
//   - [Earth] runs an Earth in regions.
//   - [Measure] measures what the work of a cluster costs, for package plan. It runs Earths of one and of
//     four regions, the embedded server, and owners of regions on logs in memory.
package trial
