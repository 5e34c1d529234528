//go:build !windows

package vast

// dearAddresses is false where reserved addresses cost nothing.
const dearAddresses = false
