package vast

import "github.com/vastgo/vast/internal/access"

// touch reports a look-up or a change of the column's values to who watches, in builds that check invariants.
func (c *column) touch(write bool) { access.Touch(c.world, int(c.id), write) }
