package vm

// HeapStandIn reports whether regions of this build are Go heap memory unless they ask for something else; see the
// package documentation. It costs nothing to ask.
func HeapStandIn() bool { return heapByDefault }
