package places

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

const (
	// maxLineBytes is four times the longest line of any GeoNames file.
	maxLineBytes = 64 << 10

	// maxTextBytes bounds a text after decompression, because a small gzip file can expand to very many
	// blank lines.
	maxTextBytes = 2 << 30

	geoNamesColumns = 19

	placesPerReport = 4096
)

var (
	errEmpty  = errors.New("holds no places")
	errUnlike = errors.New("not a list of places: expected a packed file, rows of GeoNames, " +
		"or a header that names the columns name, lat and lon")
)

// columns is the form of a table.
type columns struct {
	name, country, lat, lon, population int // index of the column, or -1 if the table lacks it
	separator                           byte
	quoted                              bool // the table has a header, and fields may be in double quotes
	count                               int  // number of columns in every row; 0 before the header is read
}

var geoNames = columns{name: 1, country: 8, lat: 4, lon: 5, population: 14, separator: '\t',
	count: geoNamesColumns}

// readText reads GeoNames rows or a table with a header. done returns the number of input bytes that were
// read. total is the size of the input, or 0 if the size is not known. If readText returns an error, line is
// the number of the line where reading ended.
func readText(r io.Reader, o Options, done func() int, total int) (l *List, line int, err error) {
	limited := &io.LimitedReader{R: r, N: maxTextBytes}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 0, maxLineBytes), maxLineBytes)

	var form *columns
	var b builder
	var fields [][]byte
	for lines.Scan() {
		line++
		text := lines.Bytes()
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff")) // some spreadsheets write a byte order mark
		}
		if len(bytes.TrimSpace(text)) == 0 || text[0] == '#' {
			continue
		}
		if form == nil {
			form, err = recognise(text)
			if err != nil {
				return nil, line, err
			}
			if form.quoted {
				continue // this row is the header
			}
		}
		fields, err = form.split(fields[:0], text)
		if err == nil {
			err = form.add(&b, fields)
		}
		if err != nil {
			return nil, line, err
		}
		if b.rows.Len()%placesPerReport == 0 {
			o.report(done(), total)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, line + 1, fmt.Errorf("the line is longer than %d KiB", maxLineBytes>>10)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, line + 1, errors.New("cut off: the compressed file ends too early")
	case err != nil:
		return nil, line + 1, err
	case limited.N <= 0:
		return nil, line, fmt.Errorf("more than %d GiB of text", maxTextBytes>>30)
	case b.rows.Len() == 0:
		return nil, line, errEmpty
	}
	l = b.list()
	o.report(done(), total)
	return l, 0, nil
}

// recognise returns the form of the table that begins with row.
func recognise(row []byte) (*columns, error) {
	if err := checkText(strings.ReplaceAll(string(row), "\t", " ")); err != nil {
		return nil, errUnlike
	}
	if bytes.Count(row, []byte("\t")) == geoNamesColumns-1 && row[0] >= '0' && row[0] <= '9' {
		return &geoNames, nil
	}
	form := columns{name: -1, country: -1, lat: -1, lon: -1, population: -1, separator: ',', quoted: true}
	for _, separator := range []byte("\t;") {
		if bytes.IndexByte(row, separator) >= 0 {
			form.separator = separator
			break
		}
	}
	fields, err := form.split(nil, row)
	if err != nil {
		return nil, errUnlike
	}
	form.count = len(fields)
	for i, field := range fields {
		var at *int
		switch strings.ToLower(string(bytes.TrimSpace(field))) {
		case "name", "city", "place":
			at = &form.name
		case "country", "country_code", "iso2":
			at = &form.country
		case "lat", "latitude":
			at = &form.lat
		case "lon", "lng", "long", "longitude":
			at = &form.lon
		case "population", "pop":
			at = &form.population
		default:
			continue
		}
		if *at < 0 { // of several columns for one value, the first counts
			*at = i
		}
	}
	if form.name < 0 || form.lat < 0 || form.lon < 0 {
		return nil, errUnlike
	}
	return &form, nil
}

// split appends the fields of row to fields. A field shares memory with row, except if it contains a doubled
// quote.
func (c *columns) split(fields [][]byte, row []byte) ([][]byte, error) {
	for {
		if c.quoted && len(row) > 0 && row[0] == '"' {
			field, rest, err := unquote(row[1:])
			if err != nil {
				return nil, err
			}
			fields = append(fields, field)
			if len(rest) == 0 {
				break
			}
			if rest[0] != c.separator {
				return nil, errors.New("text follows a closing quote")
			}
			row = rest[1:]
			continue
		}
		end := bytes.IndexByte(row, c.separator)
		if end < 0 {
			fields = append(fields, row)
			break
		}
		fields = append(fields, row[:end])
		row = row[end+1:]
	}
	if c.count > 0 && len(fields) != c.count {
		return nil, fmt.Errorf("the row has %d columns, not %d", len(fields), c.count)
	}
	return fields, nil
}

// unquote returns the field before the closing quote, and the part of the row after the closing quote. In the
// field, each doubled quote becomes one quote.
func unquote(row []byte) (field, rest []byte, err error) {
	start := 0
	for {
		quote := bytes.IndexByte(row[start:], '"')
		if quote < 0 {
			return nil, nil, errors.New("a quote is not closed on its line")
		}
		start += quote
		if start+1 == len(row) || row[start+1] != '"' {
			break
		}
		start += 2
	}
	field, rest = row[:start], row[start+1:]
	if bytes.IndexByte(field, '"') >= 0 {
		field = bytes.ReplaceAll(field, []byte(`""`), []byte(`"`))
	}
	return field, rest, nil
}

// add checks the values of one row and adds them to b.
func (c *columns) add(b *builder, fields [][]byte) error {
	value := func(at int) []byte {
		if at < 0 {
			return nil
		}
		return bytes.TrimSpace(fields[at])
	}
	name := value(c.name)
	if err := checkName(string(name)); err != nil {
		return err
	}
	country := string(value(c.country))
	if len(country) > maxCountryBytes {
		return fmt.Errorf("the country has %d bytes; the most is %d", len(country), maxCountryBytes)
	}
	if err := checkText(country); err != nil {
		return err
	}
	lat, err := parseDegrees("latitude", value(c.lat), 90)
	if err != nil {
		return err
	}
	lon, err := parseDegrees("longitude", value(c.lon), 180)
	if err != nil {
		return err
	}
	population, err := parsePopulation(value(c.population))
	if err != nil {
		return err
	}
	if b.rows.Len() == MaxPlaces {
		return fmt.Errorf("more than %d places", MaxPlaces)
	}
	if !b.add(name, country, lat, lon, population) {
		return fmt.Errorf("more than %d different countries", maxCountries)
	}
	return nil
}

// parseDegrees converts degrees to units of position, rounded to the nearest unit.
func parseDegrees(what string, text []byte, most float64) (int32, error) {
	degrees, err := strconv.ParseFloat(string(text), 64)
	// NaN fails this form of the comparison.
	if err != nil || !(math.Abs(degrees) <= most) {
		return 0, fmt.Errorf("the %s is %s, not a number from -%g to %g", what, quote(text), most, most)
	}
	return int32(math.Round(degrees * unitsPerDegree)), nil
}

// parsePopulation returns the integer part of a number, because some spreadsheets write 1234 as 1234.0. An
// empty text gives 0.
func parsePopulation(text []byte) (int32, error) {
	if len(text) == 0 {
		return 0, nil
	}
	people, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(people >= 0 && people <= maxPopulation) {
		return 0, fmt.Errorf("the population is %s, not a number from 0 to %d", quote(text), maxPopulation)
	}
	return int32(people), nil
}

// quote formats the first 40 bytes of a field for a message, as a quoted text of printable ASCII.
func quote(text []byte) string {
	const most = 40
	if len(text) > most {
		return strconv.QuoteToASCII(string(text[:most])) + "…"
	}
	return strconv.QuoteToASCII(string(text))
}
