//go:build !(linux || darwin || windows)

package vm

const (
	mirrorUnit          = 1
	mirrorsServeRegions = false
)
