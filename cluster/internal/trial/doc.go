// Package trial runs clusters in one process and measures them.
//
//   - [Earth] runs an Earth that is divided into regions.
//   - [Measure] measures the costs of the work of a cluster, for package plan. It runs Earths of one to
//     four regions, the embedded server, writes to the disk, and region owners whose logs are in memory.
package trial
