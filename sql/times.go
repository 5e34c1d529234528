package vastsql

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// registerTimes adds date_trunc(field, t), time_bucket(width, t) and to_timestamp(seconds). A time t is an
// ISO-8601 text, or a number of seconds since 1970. The first two functions return a time of the same form.
func registerTimes(db *sqlite3.Conn) error {
	const flags = sqlite3.DETERMINISTIC | sqlite3.INNOCUOUS
	timed := func(f func(ctx sqlite3.Context, arg ...sqlite3.Value) error) sqlite3.ScalarFunction {
		return func(ctx sqlite3.Context, arg ...sqlite3.Value) {
			if anyNull(arg) {
				ctx.ResultNull()
			} else if err := f(ctx, arg...); err != nil {
				ctx.ResultError(err)
			}
		}
	}
	return errors.Join(db.CreateFunction("date_trunc", 2, flags, timed(dateTrunc)),
		db.CreateFunction("time_bucket", 2, flags, timed(timeBucket)),
		db.CreateFunction("to_timestamp", 1, flags, timed(toTimestamp)))
}

func dateTrunc(ctx sqlite3.Context, arg ...sqlite3.Value) error {
	t, err := timeOf(arg[1])
	if err != nil {
		return fmt.Errorf("vastsql: date_trunc: %w", err)
	}
	truncated, ok := truncate(t, strings.ToLower(arg[0].Text()))
	if !ok {
		return fmt.Errorf("vastsql: date_trunc: %q is not microseconds, milliseconds, second, minute, hour, "+
			"day, week, month, quarter, year, decade, century or millennium", arg[0].Text())
	}
	resultAs(ctx, arg[1], truncated)
	return nil
}

func toTimestamp(ctx sqlite3.Context, arg ...sqlite3.Value) error {
	if arg[0].Type() == sqlite3.TEXT || arg[0].Type() == sqlite3.BLOB {
		return errors.New("vastsql: to_timestamp: the argument must be a number of seconds since 1970")
	}
	t, err := timeOf(arg[0])
	if err != nil {
		return fmt.Errorf("vastsql: to_timestamp: %w", err)
	}
	ctx.ResultText(t.Format(time.RFC3339Nano))
	return nil
}

// timeBucket returns the beginning of the bucket that contains a time. The width is a number of seconds, or
// an interval such as '5 minutes'. If both arguments are numbers, buckets begin at multiples of the width.
// Otherwise, as in TimescaleDB, one of the buckets begins on the first Monday of the year 2000. If the width
// is in months, one of the buckets begins on the first day of that year instead.
func timeBucket(ctx sqlite3.Context, arg ...sqlite3.Value) error {
	width, t := arg[0], arg[1]
	months, d := 0, time.Duration(0)
	switch width.Type() {
	case sqlite3.INTEGER, sqlite3.FLOAT:
		if t.Type() == sqlite3.INTEGER || t.Type() == sqlite3.FLOAT {
			return numberBucket(ctx, width, t)
		}
		if seconds := width.Float(); seconds > 0 && seconds < math.MaxInt64/1e9 {
			d = time.Duration(seconds * 1e9)
		}
	default:
		months, d = parseInterval(width.Text())
	}
	at, err := timeOf(t)
	switch {
	case months > 0 == (d > 0):
		return fmt.Errorf("vastsql: time_bucket: the width must be a positive number of seconds, or an "+
			"interval such as '5 minutes' or '1 month', not %q", width.Text())
	case err != nil:
		return fmt.Errorf("vastsql: time_bucket: %w", err)
	case months > 0:
		n := floorDivide(int64(at.Year()-2000)*12+int64(at.Month())-1, int64(months)) * int64(months)
		at = time.Date(2000, time.Month(1+n), 1, 0, 0, 0, 0, time.UTC)
	default:
		monday := time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC)
		rest := monday.Sub(monday.Truncate(d))
		at = at.Add(-rest).Truncate(d).Add(rest)
	}
	resultAs(ctx, t, at)
	return nil
}

// numberBucket returns the largest multiple of width that is not larger than v.
func numberBucket(ctx sqlite3.Context, width, v sqlite3.Value) error {
	w, f := width.Float(), v.Float()
	switch {
	case !(w > 0) || math.IsInf(w, 0):
		return fmt.Errorf("vastsql: time_bucket: the width must be positive, not %q", width.Text())
	case width.Type() == sqlite3.INTEGER && v.Type() == sqlite3.INTEGER:
		n := floorDivide(v.Int64(), width.Int64())
		if n < math.MinInt64/width.Int64() {
			ctx.ResultFloat(float64(n) * w) // the multiple is less than math.MinInt64
		} else {
			ctx.ResultInt64(n * width.Int64())
		}
	default:
		ctx.ResultFloat(math.Floor(f/w) * w)
	}
	return nil
}

// floorDivide returns the largest integer that is not larger than a / b. b must be positive.
func floorDivide(a, b int64) int64 {
	n := a / b
	if a%b < 0 {
		n--
	}
	return n
}

// timeLayouts are the forms of texts that timeOf accepts. A fraction may follow the seconds, and a space may
// stand in place of the T.
var timeLayouts = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07",
	"2006-01-02", "2006-01-02T15:04Z07:00", "2006-01-02T15:04"}

// timeOf accepts times from firstSecond, the start of the year 1, to lastSecond, the end of the year 9999.
const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

// timeOf returns the time, in UTC, of a text or of a number of seconds.
func timeOf(v sqlite3.Value) (t time.Time, err error) {
	switch v.Type() {
	case sqlite3.INTEGER:
		t = time.Unix(min(max(v.Int64(), firstSecond-1), lastSecond+1), 0)
	case sqlite3.FLOAT:
		whole, fraction := math.Modf(min(max(v.Float(), firstSecond-1), lastSecond+1))
		// A float of seconds has a precision of about a microsecond.
		t = time.Unix(int64(whole), int64(math.Round(fraction*1e6))*1000)
	case sqlite3.TEXT:
		text := v.Text()
		if len(text) > 10 && text[10] == ' ' {
			text = text[:10] + "T" + text[11:]
		}
		for _, layout := range timeLayouts {
			if t, err = time.Parse(layout, text); err == nil {
				break
			}
		}
		if err != nil {
			return t, fmt.Errorf("%.40q is not a time such as '2026-11-27T14:00:00Z'", v.Text())
		}
	default:
		return t, errors.New("a BLOB is not a time")
	}
	if s := t.Unix(); s < firstSecond || s > lastSecond {
		return t, fmt.Errorf("%v is not in the years 1 to 9999", v.Text())
	}
	return t.UTC(), nil
}

// resultAs returns a time in the form of the argument v: as text or as seconds.
func resultAs(ctx sqlite3.Context, v sqlite3.Value, t time.Time) {
	switch {
	case v.Type() == sqlite3.TEXT:
		ctx.ResultText(t.Format(time.RFC3339Nano))
	case t.Nanosecond() == 0:
		ctx.ResultInt64(t.Unix())
	default:
		ctx.ResultFloat(float64(t.Unix()) + float64(t.Nanosecond())/1e9)
	}
}

// truncate returns the beginning of the period, such as the hour, that contains t. The argument field names
// the kind of period. truncate also returns whether it knows this name.
func truncate(t time.Time, field string) (time.Time, bool) {
	year, month, day := t.Date()
	date := func(year int, month time.Month, day int) (time.Time, bool) {
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC), true
	}
	switch strings.TrimSuffix(field, "s") {
	case "microsecond":
		return t.Truncate(time.Microsecond), true
	case "millisecond":
		return t.Truncate(time.Millisecond), true
	case "second":
		return t.Truncate(time.Second), true
	case "minute":
		return t.Truncate(time.Minute), true
	case "hour":
		return t.Truncate(time.Hour), true
	case "day":
		return date(year, month, day)
	case "week": // begins on Monday
		return date(year, month, day-int(t.Weekday()+6)%7)
	case "month":
		return date(year, month, 1)
	case "quarter":
		return date(year, month-(month-1)%3, 1)
	case "year":
		return date(year, 1, 1)
	case "decade":
		return date(year-year%10, 1, 1)
	case "century":
		return date(year-(year-1)%100, 1, 1)
	case "millennium":
		return date(year-(year-1)%1000, 1, 1)
	}
	return t, false
}

// intervalUnits are the units of intervals. A month has no fixed duration: see intervalMonths.
var intervalUnits = map[string]time.Duration{
	"us": time.Microsecond, "microsecond": time.Microsecond, "ms": time.Millisecond,
	"millisecond": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "h": time.Hour, "hr": time.Hour,
	"hour": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	"week": 7 * 24 * time.Hour,
}

var intervalMonths = map[string]float64{"mon": 1, "month": 1, "y": 12, "year": 12}

// parseInterval reads an interval such as '1 hour 30 minutes', '300.000s' or '3 months'. It returns zeros for
// any other text, for a fraction of a month, and for an interval that is too long.
func parseInterval(text string) (months int, d time.Duration) {
	const mostMonths, mostTime = 12 * 10_000, math.MaxInt64 / 2
	total, totalMonths := 0.0, 0.0
	for rest := strings.TrimSpace(strings.ToLower(text)); rest != ""; {
		end := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		n, err := strconv.ParseFloat(rest[:max(end, 0)], 64)
		if err != nil {
			return 0, 0
		}
		rest = strings.TrimSpace(rest[end:])
		end = strings.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' })
		if end < 0 {
			end = len(rest)
		}
		unit := rest[:end]
		if len(unit) > 2 {
			unit = strings.TrimSuffix(unit, "s") // minutes, mins
		}
		rest = strings.TrimSpace(rest[end:])
		if intervalUnits[unit] == 0 && intervalMonths[unit] == 0 {
			return 0, 0
		}
		total += n * float64(intervalUnits[unit])
		totalMonths += n * intervalMonths[unit]
	}
	if total > mostTime || totalMonths > mostMonths || totalMonths != math.Trunc(totalMonths) {
		return 0, 0
	}
	return int(totalMonths), time.Duration(math.Round(total))
}
