// Package bench is the command `vast bench`: it measures the library beside the ways in which a Go program would do the
// same work without it, in one process, and prints the ratios.
//
// The timed work of either side stands in functions that are not inlined, so that the harness is not measured with it.
// Sides take turns: each round runs all sides of a work once, after giving the memory of the one before back to the
// operating system. A first round that is not counted warms up.
package bench
