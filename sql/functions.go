package vastsql

import (
	"math"

	"github.com/ncruces/go-sqlite3"
)

// registerFunctions adds distance(x1, y1, x2, y2) and within(x, y, x0, y0, radius).
func registerFunctions(db *sqlite3.Conn) error {
	const flags = sqlite3.DETERMINISTIC | sqlite3.INNOCUOUS
	err := db.CreateFunction("distance", 4, flags, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if anyNull(arg) {
			ctx.ResultNull()
			return
		}
		ctx.ResultFloat(math.Hypot(arg[0].Float()-arg[2].Float(), arg[1].Float()-arg[3].Float()))
	})
	if err != nil {
		return err
	}
	return db.CreateFunction("within", 5, flags, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if anyNull(arg) {
			ctx.ResultNull()
			return
		}
		ctx.ResultBool(math.Hypot(arg[0].Float()-arg[2].Float(), arg[1].Float()-arg[3].Float()) <=
			arg[4].Float())
	})
}

func anyNull(arg []sqlite3.Value) bool {
	for _, v := range arg {
		if v.Type() == sqlite3.NULL {
			return true
		}
	}
	return false
}
