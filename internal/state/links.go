package state

// InBothOrders returns the links, as indices into the slice sources, in an order that preserves the order of
// the links out of each source and into each target. The slice sources has the source of each link; the links
// out of one source are adjacent and in their order. The map into has the links into each target, in their
// order. If the orders contradict each other, the result lacks some links.
func InBothOrders(sources []int, into map[int][]int) (order []int) {
	waits := make([]uint8, len(sources))  // for each link, number of links it still waits for: at most two
	frees := make([][2]int, len(sources)) // for each link, the links that wait for it, as index plus 1; or 0
	for i := 1; i < len(sources); i++ {
		if sources[i] == sources[i-1] {
			waits[i]++
			frees[i-1][0] = i + 1
		}
	}
	for _, links := range into {
		for k := 1; k < len(links); k++ {
			waits[links[k]]++
			frees[links[k-1]][1] = links[k] + 1
		}
	}
	for i := range sources {
		if waits[i] == 0 {
			order = append(order, i)
		}
	}
	for at := 0; at < len(order); at++ {
		for _, next := range frees[order[at]] {
			if next == 0 {
				continue
			}
			if waits[next-1]--; waits[next-1] == 0 {
				order = append(order, next-1)
			}
		}
	}
	return order
}
