package vast_test

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probetest"
)

func init() { vast.CheckAreas = probetest.CheckAreas }
