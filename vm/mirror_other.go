//go:build !(linux || darwin || freebsd || windows)

package vm

const (
	mirrorUnit          = 1
	mirrorsServeRegions = false
)
