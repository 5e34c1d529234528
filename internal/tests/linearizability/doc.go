// Package linearizability checks that concurrent operations on the shared containers of bulk have the results
// of some sequential order. It holds tests only.
package linearizability
