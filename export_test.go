package vast

import "testing"

// CheckAreas is probetest.CheckAreas, which tests of this package cannot import.
var CheckAreas func(testing.TB, *World)

// probed has the methods that package probe calls.
var probed probes
