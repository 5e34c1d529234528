package query

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// operator is the basic form of a comparison.
type operator uint8

const (
	opRange    operator = iota // the number is in the range
	opNaN                      // the number is NaN
	opEqual                    // the text or entity equals the value in the query
	opLess                     // the text is less than the text in the query
	opMore                     // the text is greater than the text in the query
	opContains                 // the text contains the text in the query, ignoring case
	opNamed                    // the entity has a name
)

// comparison is a condition on a value.
type comparison struct {
	kind Kind
	op   operator
	not  bool // whether the condition is negated
	at   Span // span of the value in the query

	lo      uint64  // least number of a range of integers or bools
	span    uint64  // greatest number of the range minus lo, modulo 2⁶⁴
	least   float64 // least number of a range of floating-point numbers
	most    float64 // greatest number of a range of floating-point numbers
	nothing bool    // whether the range is empty
	text    string  // text or name in the query
	low     string  // text in lower case
	id      string  // ID of an entity in the query

	number reflect.Kind // kind of the number in the component
	offset int          // offset of the value in the component, in bytes
	size   int          // size of the component, in bytes
	packed bool         // whether the components lie side by side, so that the search need not copy them
	slots  int          // number of slots to search in a step
}

func compileComparison(a *Atom, part *Part) (*comparison, error) {
	c := &comparison{kind: part.Kind, at: a.Value.Span, slots: stepSlow}
	if part.Type != nil {
		c.number = part.Type.Kind()
	}
	op := a.Op
	if op == "!=" || op == "!~" {
		c.not = true
		op = map[string]string{"!=": "==", "!~": "~"}[op]
	}
	name := quoteName(a.Name) + a.Number + pathOf(a.Fields, true)
	if op == "~" && c.kind != KindString {
		return nil, a.OpSpan.errorf("%s compares texts, but %s has the type %v: use == != < <= > or >=", a.Op,
			name, part.Type)
	}
	if (c.kind == KindBool || c.kind == KindEntity) && op != "==" {
		return nil, a.OpSpan.errorf("%s has the type %v: use == or !=", name, part.Type)
	}
	switch c.kind {
	case KindString:
		c.texts(op, a.Value.Text)
		return c, nil
	case KindEntity:
		c.op = opEqual
		if c.text = a.Value.Text; !a.Value.Quoted && idPattern.MatchString(c.text) {
			c.id = c.text
		}
		return c, nil
	case KindBool:
		return c, c.bools(a.Value)
	case KindFloat:
		return c, c.floats(op, a.Value, part.Type)
	}
	text := a.Value.Text
	if c.kind == KindEnum && (a.Value.Quoted || len(text) > 0 && isLetter([]rune(text)[0])) {
		number, err := enumValue(part.Type, a.Value)
		if err != nil {
			return nil, err
		}
		text = number
	} else if a.Value.Quoted {
		return nil, a.Value.Span.errorf("%s is a number: write the value without quotes", name)
	}
	return c, c.integers(op, text, part.Type, a.Value.Span)
}

// texts compiles a comparison of texts. It turns <= and >= into negations of > and <.
func (c *comparison) texts(op, text string) {
	c.text, c.low = text, strings.ToLower(text)
	switch op {
	case "==":
		c.op = opEqual
	case "~":
		c.op = opContains
	case "<":
		c.op = opLess
	case ">":
		c.op = opMore
	case "<=":
		c.op, c.not = opMore, true
	case ">=":
		c.op, c.not = opLess, true
	}
}

func (c *comparison) bools(v Value) error {
	switch {
	case strings.EqualFold(v.Text, "true") && !v.Quoted:
		c.lo, c.span = 1, 254 // any byte from 1 to 255 is true
	case strings.EqualFold(v.Text, "false") && !v.Quoted:
	default:
		return v.Span.errorf("%q is neither true nor false", v.Text)
	}
	return nil
}

// floats compiles a comparison of floating-point numbers in the precision of the field.
func (c *comparison) floats(op string, v Value, t reflect.Type) error {
	x, err := strconv.ParseFloat(v.Text, t.Bits())
	if v.Quoted || err != nil && !math.IsInf(x, 0) {
		return v.Span.errorf("%q is not a number: write a number such as -1.5, 2e6, Inf or NaN", v.Text)
	}
	next := func(x, to float64) float64 {
		if t.Bits() == 32 {
			return float64(math.Nextafter32(float32(x), float32(to)))
		}
		return math.Nextafter(x, to)
	}
	c.least, c.most = math.Inf(-1), math.Inf(1)
	if math.IsNaN(x) {
		if op != "==" {
			return v.Span.errorf("NaN has no order: use == or !=")
		}
		c.op = opNaN
		return nil
	}
	switch op {
	case "==":
		c.least, c.most = x, x
	case "<=":
		c.most = x
	case ">=":
		c.least = x
	case "<":
		c.most, c.nothing = next(x, math.Inf(-1)), math.IsInf(x, -1)
	case ">":
		c.least, c.nothing = next(x, math.Inf(1)), math.IsInf(x, 1)
	}
	return nil
}

// integers compiles the comparison of an integer field. The number in the query may have a fraction, or may
// be out of the range of the field's type.
func (c *comparison) integers(op, text string, t reflect.Type, at Span) error {
	signed := t.Kind() <= reflect.Int64
	least, most := uint64(0), uint64(math.MaxUint64)
	if signed {
		least, most = 1<<63, math.MaxInt64 // two's complement: sums and differences are modulo 2⁶⁴
	}
	below, above, err := neighbours(text, signed)
	if err != nil {
		return at.errorf("%q is not a number", text)
	}
	switch op {
	case "==":
		if below != above {
			c.nothing = true // the number lies between two integers
		}
		c.lo, c.span = below.value, 0
		c.nothing = c.nothing || below.beyond != 0
	case "<=", "<":
		end := below
		if op == "<" && below == above && below.beyond == 0 {
			if end.value == least {
				c.nothing = true
			}
			end.value--
		}
		c.nothing = c.nothing || end.beyond < 0
		if end.beyond > 0 {
			end.value = most
		}
		c.lo, c.span = least, end.value-least
	default:
		begin := above
		if op == ">" && below == above && above.beyond == 0 {
			if begin.value == most {
				c.nothing = true
			}
			begin.value++
		}
		c.nothing = c.nothing || begin.beyond > 0
		if begin.beyond < 0 {
			begin.value = least
		}
		c.lo, c.span = begin.value, most-begin.value
	}
	return nil
}

// integer is a 64-bit integer, signed or unsigned.
type integer struct {
	value  uint64 // 0 if beyond is not 0
	beyond int    // −1 below the 64-bit range, 1 above it, 0 in the range
}

// baseOf returns the base for strconv. Base 0 reads a number with a leading zero as octal, so baseOf returns
// 0 only for a text with a prefix such as 0x or with underscores.
func baseOf(text string) int {
	if strings.ContainsAny(text, "xXoObB_") {
		return 0
	}
	return 10
}

// neighbours parses a number. It returns the number rounded down, and rounded up, to an integer.
func neighbours(text string, signed bool) (below, above integer, err error) {
	if signed {
		if n, err := strconv.ParseInt(text, baseOf(text), 64); err == nil {
			return integer{value: uint64(n)}, integer{value: uint64(n)}, nil
		}
	} else if n, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), baseOf(text), 64); err == nil {
		return integer{value: n}, integer{value: n}, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(x, 0) || math.IsNaN(x) {
		return below, above, fmt.Errorf("not a number")
	}
	whole := func(x float64) integer {
		switch {
		case signed && x < -1<<63, !signed && x < 0:
			return integer{beyond: -1}
		case signed && x >= 1<<63, !signed && x >= 1<<64:
			return integer{beyond: 1}
		case signed:
			return integer{value: uint64(int64(x))}
		}
		return integer{value: uint64(x)}
	}
	return whole(math.Floor(x)), whole(math.Ceil(x)), nil
}

// maxEnum bounds the values for which enumNames calls String, if the type has more than 8 bits.
const maxEnum = 1024

// enumNames returns the named values of a type in ascending order. The value values[i] has the name names[i].
func enumNames(t reflect.Type) (names []string, values []int64) {
	from, to := int64(0), int64(maxEnum)
	if t.Bits() == 8 {
		to = 1 << 8
	}
	if t.Kind() <= reflect.Int64 {
		from = -1
		if t.Bits() == 8 {
			from, to = -1<<7, 1<<7
		}
	}
	for n := from; n < to; n++ {
		v := reflect.New(t).Elem()
		if t.Kind() <= reflect.Int64 {
			v.SetInt(n)
		} else {
			v.SetUint(uint64(n))
		}
		number := strconv.FormatInt(n, 10)
		// Generated String methods return texts such as Stage(7) for unnamed values.
		if name := nameOf(v); name != "" && name != number && !strings.Contains(name, "("+number+")") {
			names, values = append(names, name), append(values, n)
		}
	}
	return names, values
}

// nameOf returns the result of a value's String method, or "" if the method panics, as some do for unnamed
// values.
func nameOf(v reflect.Value) (name string) {
	defer func() {
		if recover() != nil {
			name = ""
		}
	}()
	return v.Interface().(fmt.Stringer).String()
}

// enumValue returns the number of the enum value that v names.
func enumValue(t reflect.Type, v Value) (string, error) {
	names, values := enumNames(t)
	i := slices.Index(names, v.Text)
	if i < 0 {
		i = slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, v.Text) })
	}
	if i >= 0 {
		return strconv.FormatInt(values[i], 10), nil
	}
	hint := didYouMean(v.Text, names)
	if hint == "" && len(names) > 0 && len(names) <= 12 {
		hint = ": the values are " + strings.Join(names, ", ")
	}
	return "", v.Span.errorf("%v has no value called %q%s", t, v.Text, hint)
}
