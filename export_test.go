package vast

import "testing"

// CheckAreas is probetest.CheckAreas. Tests of this package cannot import probetest, which imports this
// package.
var CheckAreas func(testing.TB, *World)

// probed has the methods that package probe calls and documents.
var probed probes
