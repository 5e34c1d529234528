//go:build vast_pages16k && !vast_pages64k

package vm

// pageSmallest: regions work in pages of 16 KiB, also where the system has smaller ones. A test run of such a build shows
// what assumes 4 KiB on machines that have no larger pages.
const pageSmallest = 16 << 10
