//go:build !vast_pages16k && !vast_pages64k

package vm

// minPageSize is the smallest size of a region's page in bytes. With 1, regions use the system's pages.
const minPageSize = 1
