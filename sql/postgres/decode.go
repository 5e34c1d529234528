package postgres

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// decodeParameter returns a parameter as a value for SQLite. data is nil for NULL.
func decodeParameter(data []byte, o oid, format int16) (any, error) {
	switch {
	case data == nil:
		return nil, nil
	case format == formatBinary:
		return decodeBinary(data, o)
	case format != formatText:
		return nil, fail(codeProtocolViolation, fmt.Sprintf("unknown format %d of a parameter", format))
	}
	return decodeText(string(data), o)
}

func decodeText(s string, o oid) (any, error) {
	if !utf8.ValidString(s) {
		return nil, failWithHint("22021", "a parameter is not valid UTF-8", "Send text as UTF-8.")
	}
	value, err := any(s), error(nil)
	switch o {
	case oidBool:
		value, err = parseBool(s)
	case oidInt2, oidInt4, oidInt8, oidOID:
		value, err = strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	case oidFloat4, oidFloat8:
		value, err = strconv.ParseFloat(strings.TrimSpace(s), 64)
	case oidNumeric:
		value, err = parseNumeric(strings.TrimSpace(s))
	case oidBytea:
		value, err = parseBytea(s)
	case oidUnspecified, oidUnknown:
		value = guess(s)
	}
	if err != nil {
		return nil, fail(codeInvalidText, fmt.Sprintf("invalid input for type %s: %q", typeName(o), s))
	}
	return value, nil
}

// guess returns a number if SQLite writes this number as s, otherwise s. The number also matches a column of
// text, because SQLite converts a number to text before it compares the two.
func guess(s string) any {
	if len(s) == 0 || len(s) > 32 || !isDigit(s[len(s)-1]) {
		return s
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(v, 10) == s {
		return v
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v == 0 && math.Signbit(v) { // SQLite writes -0.0 as 0.0
		return s
	}
	// SQLite writes 15 digits at most, and always a point.
	digits, exponent, scientific := strings.Cut(strconv.FormatFloat(v, 'g', 15, 64), "e")
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	if scientific {
		digits += "e" + exponent
	}
	if digits == s {
		return v
	}
	return s
}

func parseBool(s string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "t", "true", "y", "yes", "on", "1":
		return true, nil
	case "f", "false", "n", "no", "off", "0":
		return false, nil
	}
	return false, strconv.ErrSyntax
}

func parseNumeric(s string) (any, error) {
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return v, nil
	}
	return strconv.ParseFloat(s, 64)
}

func parseBytea(s string) ([]byte, error) {
	if digits, ok := strings.CutPrefix(s, `\x`); ok {
		return hex.DecodeString(digits)
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			b = append(b, s[i])
		case i+1 < len(s) && s[i+1] == '\\':
			b = append(b, '\\')
			i++
		case i+3 < len(s):
			v, err := strconv.ParseUint(s[i+1:i+4], 8, 8)
			if err != nil {
				return nil, err
			}
			b = append(b, byte(v))
			i += 3
		default:
			return nil, strconv.ErrSyntax
		}
	}
	return b, nil
}

func decodeBinary(data []byte, o oid) (any, error) {
	if size := o.size(); size >= 0 && len(data) != int(size) {
		return nil, fail(codeInvalidBinary,
			fmt.Sprintf("a binary parameter of the type %s has %d bytes, want %d", typeName(o), len(data),
				size))
	}
	switch o {
	case oidBool:
		return data[0] != 0, nil
	case oidInt2:
		return int64(int16(binary.BigEndian.Uint16(data))), nil
	case oidInt4:
		return int64(int32(binary.BigEndian.Uint32(data))), nil
	case oidOID:
		return int64(binary.BigEndian.Uint32(data)), nil
	case oidInt8:
		return int64(binary.BigEndian.Uint64(data)), nil
	case oidFloat4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(data))), nil
	case oidFloat8:
		return math.Float64frombits(binary.BigEndian.Uint64(data)), nil
	case oidBytea:
		return append([]byte{}, data...), nil
	case oidDate:
		days := int32(binary.BigEndian.Uint32(data))
		return epoch.AddDate(0, 0, int(days)).Format(time.DateOnly), nil
	case oidTimestamp, oidTimestampTZ:
		return time.UnixMicro(epoch.UnixMicro() + int64(binary.BigEndian.Uint64(data))).UTC(), nil
	case oidText, oidVarchar, oidBpchar, oidName, oidChar, oidUnknown, oidUnspecified, oidJSON:
		if !utf8.Valid(data) {
			return nil, failWithHint("22021", "a parameter is not valid UTF-8", "Send text as UTF-8.")
		}
		return string(data), nil
	}
	return nil, failWithHint(codeNotSupported, "no binary format for parameters of the type "+typeName(o),
		"Send the parameter as text.")
}

// typeName returns the name of a type for messages.
func typeName(o oid) string {
	switch o {
	case oidUnspecified, oidUnknown:
		return "unknown"
	case oidDate:
		return "date"
	case oidTimestamp:
		return "timestamp"
	case oidTimestampTZ:
		return "timestamptz"
	}
	for _, t := range catalogTypes {
		if t.oid == o {
			return t.name
		}
	}
	return fmt.Sprintf("with OID %d", o)
}
