//go:build !vast_pages16k && !vast_pages64k

package vm

// pageSmallest is 1, so regions use the system's pages.
const pageSmallest = 1
