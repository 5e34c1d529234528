package earth

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold returns a name in lower case, without accents, and with spaces instead of hyphens and dashes. It
// replaces each character in undecomposed by its text there.
func fold(name string) string { return string(appendFolded(nil, name)) }

func appendFolded(b []byte, name string) []byte {
	for i := 0; i < len(name); {
		if c := name[i]; c < utf8.RuneSelf {
			b = appendFoldedRune(b, rune(c))
			i++
			continue
		}
		// In the decomposed form, accents are separate runes.
		p := norm.NFD.PropertiesString(name[i:])
		size := max(p.Size(), 1)
		if d := p.Decomposition(); d != nil {
			for len(d) > 0 {
				r, n := utf8.DecodeRune(d)
				b, d = appendFoldedRune(b, r), d[n:]
			}
		} else {
			r, _ := utf8.DecodeRuneInString(name[i:])
			b = appendFoldedRune(b, r)
		}
		i += size
	}
	return b
}

func appendFoldedRune(b []byte, r rune) []byte {
	switch {
	case 'a' <= r && r <= 'z':
		return append(b, byte(r))
	case unicode.Is(unicode.Mn, r):
		return b
	case unicode.Is(unicode.Pd, r):
		return append(b, ' ')
	}
	r = unicode.ToLower(r)
	if letters, ok := undecomposed[r]; ok {
		return append(b, letters...)
	}
	return utf8.AppendRune(b, r)
}

// undecomposed has the text that people type in place of some characters. Unicode does not decompose these
// characters.
var undecomposed = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ı': "i", 'ł': "l",
	'ŋ': "ng", 'ŧ': "t", 'ə': "a", '’': "'", '‘': "'", 'ʻ': "'", 'ʼ': "'", '`': "'",
}
