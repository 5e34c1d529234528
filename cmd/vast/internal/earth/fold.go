package earth

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold brings a name to a form in which those are equal that a person who types would not tell apart: without accents, in
// small letters, with blanks for hyphens.
func fold(name string) string {
	plain := true
	for i := 0; i < len(name) && plain; i++ {
		plain = name[i] < utf8.RuneSelf && name[i] != '-' && !('A' <= name[i] && name[i] <= 'Z')
	}
	if plain {
		return name
	}
	var b strings.Builder
	b.Grow(len(name))
	// In the decomposed form accents are runes of their own.
	for _, r := range norm.NFD.String(name) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.Is(unicode.Pd, r):
			b.WriteByte(' ')
		default:
			r = unicode.ToLower(r)
			if letters, ok := undecomposed[r]; ok {
				b.WriteString(letters)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// undecomposed are letters that Unicode does not take apart, and what people type for them.
var undecomposed = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ı': "i", 'ł': "l", 'ŋ': "ng", 'ŧ': "t",
	'ə': "a", '’': "'", '‘': "'", 'ʻ': "'", 'ʼ': "'", '`': "'",
}
