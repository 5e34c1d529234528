//go:build vast_pages64k

package vm

// minPageSize is the smallest size of a region's page in bytes. Tests of this build find code that assumes
// pages of 4 KiB.
const minPageSize = 64 << 10
