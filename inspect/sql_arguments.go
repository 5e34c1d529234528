package inspect

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sqlArguments are the values for a statement's parameters. In JSON they look like the values in an answer's
// rows: see appendSQLValue.
type sqlArguments []any

// UnmarshalJSON decodes the values.
func (a *sqlArguments) UnmarshalJSON(text []byte) error {
	var list []any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&list); err != nil {
		return err
	}
	for i, v := range list {
		var err error
		switch v := v.(type) {
		case json.Number:
			list[i], err = sqlNumber(string(v))
		case []any:
			err = errors.New("an array is not a value of SQL")
		case map[string]any:
			list[i], err = sqlObject(v)
		}
		if err != nil {
			return fmt.Errorf("args: value %d: %w", i+1, err)
		}
	}
	*a = list
	return nil
}

// sqlNumber returns a float64 for a number with a decimal point or an exponent, and an int64 for any other
// number.
func sqlNumber(text string) (any, error) {
	if strings.ContainsAny(text, ".eE") {
		return strconv.ParseFloat(text, 64)
	}
	return strconv.ParseInt(text, 10, 64)
}

// sqlObject returns the value that an object stands for. appendSQLValue makes such objects.
func sqlObject(object map[string]any) (any, error) {
	for key, v := range object {
		text, ok := v.(string)
		switch {
		case !ok || len(object) != 1:
		case key == "integer":
			return strconv.ParseInt(text, 10, 64)
		case key == "blob":
			return base64.StdEncoding.DecodeString(text)
		case key == "real" && text == "Infinity":
			return math.Inf(1), nil
		case key == "real" && text == "-Infinity":
			return math.Inf(-1), nil
		}
	}
	return nil, errors.New(`an object must be like {"integer": "9223372036854775807"}, {"real": ` +
		`"-Infinity"} or {"blob": "AP8="}`)
}
