// Package snake turns names of Go into names of SQL and of columns in files.
package snake

import (
	"strings"
	"unicode"
)

// Case returns a name in snake case: "HomeTown" becomes "home_town", "HTTPPort" becomes "http_port", and
// "game.Home Town" becomes "game_home_town".
func Case(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case unicode.IsUpper(r):
			after := i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]))
			before := i > 0 && unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if after || before {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}
