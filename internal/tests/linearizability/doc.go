// Package linearizability checks that what goroutines do at once to the shared containers of bulk could have been done by
// one goroutine after the other. It holds tests only.
package linearizability
