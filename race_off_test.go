//go:build !race

package vast

const raceEnabled = false
