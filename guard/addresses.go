package guard

import "slices"

// addresses allocates ranges of pages of a region. It reuses the freed ranges below next only when the pages
// from next on are too few.
type addresses struct {
	total int         // number of pages in the region
	next  int         // the pages [next, total) are free
	again []pageRange // freed ranges below next; sorted, not adjacent
}

// pageRange is the pages [lo, hi).
type pageRange struct{ lo, hi int }

// take allocates n adjacent pages and returns the first page, or false if no n adjacent pages are free.
func (a *addresses) take(n int) (page int, ok bool) {
	if n <= a.total-a.next {
		page = a.next
		a.next += n
		return page, true
	}
	for i, r := range a.again {
		if n <= r.hi-r.lo {
			if a.again[i].lo += n; n == r.hi-r.lo {
				a.again = slices.Delete(a.again, i, i+1)
			}
			return r.lo, true
		}
	}
	return 0, false
}

// give frees n pages and joins them with adjacent free pages.
func (a *addresses) give(page, n int) {
	lo, hi := page, page+n
	i, _ := slices.BinarySearchFunc(a.again, lo, func(r pageRange, lo int) int { return r.lo - lo })
	j := i
	if i > 0 && a.again[i-1].hi == lo {
		i--
		lo = a.again[i].lo
	}
	if j < len(a.again) && a.again[j].lo == hi {
		hi = a.again[j].hi
		j++
	}
	if hi == a.next {
		a.again, a.next = slices.Delete(a.again, i, j), lo
		return
	}
	a.again = slices.Replace(a.again, i, j, pageRange{lo, hi})
}
