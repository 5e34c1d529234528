//go:build vast_pages64k

package vm

// pageSmallest makes regions use pages of 64 KiB even on systems with smaller pages. A test run of such a
// build finds code that assumes 4 KiB, and needs no machine with larger pages.
const pageSmallest = 64 << 10
