package earth

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// size is a flag for a number of bytes, such as 512MiB, 2GB, 1.5GiB or 1048576.
type size int

// sizeUnits has the suffix b last, because all other suffixes end in b, too.
var sizeUnits = []struct {
	suffix string
	bytes  uint64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"b", 1},
}

var errSize = errors.New("want a size of at least 1 byte, such as 512MiB, 2GB or 1048576")

// parseSize reads a number, whole or with a decimal point, and an optional unit in upper or lower case. It
// drops fractions of a byte.
func parseSize(s string) (int, error) {
	number, unit := strings.ToLower(s), uint64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	if n, err := strconv.ParseUint(number, 10, 64); err == nil && n > 0 && n <= math.MaxInt/unit {
		return int(n * unit), nil
	}
	// Signs, exponents, NaN and other forms that ParseFloat accepts are not sizes.
	if !strings.Contains(number, ".") || strings.Trim(number, "0123456789.") != "" {
		return 0, errSize
	}
	n, err := strconv.ParseFloat(number, 64)
	if n *= float64(unit); err != nil || n < 1 || n >= math.MaxInt {
		return 0, errSize
	}
	return int(n), nil
}

// Set implements flag.Value.
func (z *size) Set(s string) error {
	n, err := parseSize(s)
	*z = size(n)
	return err
}

// String implements flag.Value.
func (z *size) String() string {
	if z == nil || *z == 0 {
		return ""
	}
	return strconv.Itoa(int(*z))
}
