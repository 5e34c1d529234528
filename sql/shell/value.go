package shell

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// isNumber reports whether a value of a result is a number.
func isNumber(value any) bool {
	switch value.(type) {
	case int64, float64:
		return true
	}
	return false
}

// number returns f with the fewest digits that read back as f. Finite numbers have a point or an exponent, so
// that 1.0 differs from the integer 1, as in SQLite.
func number(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Inf"
	case math.IsInf(f, -1):
		return "-Inf"
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".eN") {
		text += ".0"
	}
	return text
}

// plain returns the text of a value as in CSV. NULL is the empty text.
func plain(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return number(v)
	case bool:
		return strconv.FormatBool(v)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	default: // a type of another driver
		return fmt.Sprint(v)
	}
}

// cell returns the clean text of a value for a table. If limit is more than 0, cell uses only the first limit
// bytes of a text or blob, because the table cuts the cell.
func cell(value any, limit int) string {
	switch v := value.(type) {
	case nil:
		return "NULL"
	case []byte:
		if limit > 0 && len(v) > limit {
			return "x'" + hex.EncodeToString(v[:limit]) + "…"
		}
		return "x'" + hex.EncodeToString(v) + "'"
	case string:
		if limit > 0 && len(v) > limit {
			return clean(strings.ToValidUTF8(v[:limit], "")) + "…"
		}
	}
	return clean(plain(value))
}
