//go:build !vast_pages16k && !vast_pages64k

package vm

// pageSmallest: regions use the system's pages.
const pageSmallest = 1
