package value

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

func itoa(i int) string { return strconv.Itoa(i) }

// shortJSON returns about the first 40 bytes of a JSON text.
func shortJSON(text []byte) string {
	if len(text) > 40 { // avoids a copy of a large text
		text = text[:min(len(text), 44)]
	}
	return cut(string(text), 40)
}

// decode sets a leaf from a JSON text. decodeEntity handles entities.
func decode(v reflect.Value, kind Kind, path string, text []byte) *Error {
	switch kind {
	case Bool:
		switch string(text) {
		case "true", "false":
			v.SetBool(text[0] == 't')
			return nil
		}
		return fault(path, "must be true or false, not %s", shortJSON(text))
	case String:
		s, ok := asString(text)
		if !ok {
			return fault(path, "must be a string, not %s", shortJSON(text))
		}
		if len(s) > textBytes {
			return fault(path, "must have at most %d bytes, not %d", textBytes, len(s))
		}
		v.SetString(s)
		return nil
	case Float:
		return decodeFloat(v, path, text)
	case Time:
		s, _ := asString(text)
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return fault(path, "must be a time such as 2006-01-02T15:04:05Z, not %s", shortJSON(text))
		}
		v.Set(reflect.ValueOf(at))
		return nil
	case Duration:
		if s, ok := asString(text); ok {
			if d, err := time.ParseDuration(strings.TrimSpace(s)); err == nil {
				v.SetInt(int64(d))
				return nil
			}
			if !isDigits(s) {
				return fault(path, "must be a duration such as 1h30m or 250ms, not %s", quote(s))
			}
		}
	case Enum:
		if s, ok := asString(text); ok {
			return decodeEnum(v, path, s, text)
		}
	}
	return decodeInteger(v, path, text)
}

// asString returns the string in a JSON text, and reports whether the JSON text is a string.
func asString(text []byte) (s string, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(text, &s) == nil
}

// isDigits reports whether a text is a decimal integer, with or without a sign.
func isDigits(s string) bool {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// decodeEnum sets an enum from a string: a name, or the digits of a number. It refuses ambiguous strings.
func decodeEnum(v reflect.Value, path, s string, text []byte) *Error {
	all := ChoicesOf(v.Type())
	var names []string
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b },
		strings.EqualFold} {
		var found []Choice
		for _, c := range all {
			if same(c.Name, s) {
				found = append(found, c)
			}
		}
		switch {
		case len(found) > 1:
			return fault(path, "%s may be %s or %s: write the exact name", quote(s), found[0].Name,
				found[1].Name)
		case len(found) == 1 && isDigits(s) && strconv.FormatInt(found[0].Value, 10) != strings.TrimPrefix(s,
			"+"):
			return fault(path, "%s is the name of %d but looks like the number %[3]s: write a number "+
				"without quotes",
				quote(s), found[0].Value, s)
		case len(found) == 1:
			if v.CanInt() {
				v.SetInt(found[0].Value)
			} else {
				v.SetUint(uint64(found[0].Value))
			}
			return nil
		}
	}
	if isDigits(s) {
		return decodeInteger(v, path, text)
	}
	for _, c := range all {
		names = append(names, c.Name)
	}
	return fault(path, "must be one of %[2]s, not %[1]s", quote(s),
		cut(strings.Join(names, ", "), 2*maxText))
}

func decodeFloat(v reflect.Value, path string, text []byte) *Error {
	bits := v.Type().Bits()
	digits := string(text)
	if s, ok := asString(text); ok {
		switch s {
		case "NaN":
			v.SetFloat(math.NaN())
			return nil
		case "Inf", "+Inf":
			v.SetFloat(math.Inf(1))
			return nil
		case "-Inf":
			v.SetFloat(math.Inf(-1))
			return nil
		}
		digits = ""
	}
	if digits == "" || digits[0] != '-' && (digits[0] < '0' || digits[0] > '9') {
		return fault(path, `must be a number, "NaN", "+Inf" or "-Inf", not %s`, shortJSON(text))
	}
	f, err := strconv.ParseFloat(digits, bits)
	if err != nil {
		most := math.MaxFloat64
		if bits == 32 {
			most = math.MaxFloat32
		}
		return fault(path, "%s holds numbers up to ±%.3g, not %s", v.Kind(), most, shortJSON(text))
	}
	v.SetFloat(f)
	return nil
}

func decodeInteger(v reflect.Value, path string, text []byte) *Error {
	digits := string(text)
	if s, ok := asString(text); ok {
		digits = s
	}
	if !isDigits(digits) {
		f, err := strconv.ParseFloat(digits, 64)
		_, quoted := asString(text)
		switch {
		case quoted, text[0] != '-' && (text[0] < '0' || text[0] > '9'):
			return fault(path, "must be a whole number, not %s", shortJSON(text))
		case err != nil:
			return outOfRange(v, path, text)
		case f != math.Trunc(f):
			return fault(path, "must be a whole number, not %s", shortJSON(text))
		case math.Abs(f) > maxSafe:
			if math.Abs(f) >= 1<<64 {
				return outOfRange(v, path, text)
			}
			return fault(path, "write all digits of a number as large as %s", shortJSON(text))
		}
		digits = strconv.FormatFloat(f, 'f', 0, 64)
		if digits == "-0" {
			digits = "0"
		}
	}
	digits = strings.TrimPrefix(digits, "+")
	if v.CanInt() {
		n, err := strconv.ParseInt(digits, 10, v.Type().Bits())
		if err != nil {
			return outOfRange(v, path, text)
		}
		v.SetInt(n)
		return nil
	}
	n, err := strconv.ParseUint(digits, 10, v.Type().Bits())
	if err != nil {
		if strings.Trim(digits, "-0") == "" {
			n, err = 0, nil // minus zero
		} else {
			return outOfRange(v, path, text)
		}
	}
	v.SetUint(n)
	return nil
}

func outOfRange(v reflect.Value, path string, text []byte) *Error {
	bits := v.Type().Bits()
	if v.CanInt() {
		most := int64(1)<<(bits-1) - 1
		return fault(path, "%s holds %d to %d, not %s", v.Kind(), -most-1, most, shortJSON(text))
	}
	return fault(path, "%s holds 0 to %d, not %s", v.Kind(), uint64(math.MaxUint64)>>(64-bits),
		shortJSON(text))
}

// decodeEntity returns the reference in a JSON text. For null and for "", it returns the zero Reference.
func decodeEntity(path string, text []byte) (to Reference, err *Error) {
	if string(text) == "null" {
		return to, nil
	}
	if s, ok := asString(text); ok && len(s) <= maxPath {
		return Reference{Any: s}, nil
	}
	var named struct{ ID, Name *string }
	decoder := json.NewDecoder(bytes.NewReader(text)) // NewEdit has checked that the text is one value
	decoder.DisallowUnknownFields()
	if text[0] == '{' && decoder.Decode(&named) == nil && (named.ID == nil) != (named.Name == nil) {
		if named.ID != nil {
			to.ID = *named.ID
		} else {
			to.Name = *named.Name
		}
		if n := len(to.ID) + len(to.Name); n > 0 && n <= maxPath {
			return to, nil
		}
	}
	return Reference{}, fault(path,
		"must be an entity (an ID such as 17.3, or a name) or null, not %s",
		shortJSON(text))
}
