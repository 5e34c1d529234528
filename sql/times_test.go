package vastsql

import (
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

func TestTimes(t *testing.T) {
	w := newWritten(t, vast.Options{})
	w.serve(t)
	db := w.open(t, Options{})
	for text, want := range map[string]string{
		"date_trunc('hour', '2026-11-27T14:35:07.25Z')":          "2026-11-27T14:00:00Z",
		"date_trunc('MINUTES', '2026-11-27 14:35:07.25')":        "2026-11-27T14:35:00Z",
		"date_trunc('second', '2026-11-27T14:35:07.25+02:00')":   "2026-11-27T12:35:07Z",
		"date_trunc('second', '2026-11-27 14:35:07.25+02')":      "2026-11-27T12:35:07Z",
		"date_trunc('milliseconds', '2026-11-27T14:35:07.1239')": "2026-11-27T14:35:07.123Z",
		"date_trunc('day', '2026-11-27T14:35')":                  "2026-11-27T00:00:00Z",
		"date_trunc('week', '2026-11-29')":                       "2026-11-23T00:00:00Z",
		"date_trunc('week', '2026-11-23T14:35Z')":                "2026-11-23T00:00:00Z",
		"date_trunc('month', '2026-11-27')":                      "2026-11-01T00:00:00Z",
		"date_trunc('quarter', '2026-12-27')":                    "2026-10-01T00:00:00Z",
		"date_trunc('year', '2026-11-27')":                       "2026-01-01T00:00:00Z",
		"date_trunc('decade', '2026-11-27')":                     "2020-01-01T00:00:00Z",
		"date_trunc('century', '2000-11-27')":                    "1901-01-01T00:00:00Z",
		"date_trunc('millennium', '2001-01-01')":                 "2001-01-01T00:00:00Z",
		"date_trunc('hour', 7250)":                               "7200",
		"date_trunc('hour', -1.5)":                               "-3600",
		"date_trunc('milliseconds', 1.2345)":                     "1.234",
		"typeof(date_trunc('hour', 7250.5))":                     "integer",
		"date_trunc('hour', NULL)":                               "",
		"date_trunc('eon', 5)":                                   `error: "eon" is not`,
		"date_trunc('hour', 'noon')":                             `error: "noon" is not a time`,
		"date_trunc('hour', x'00')":                              "error: a BLOB is not a time",
		"date_trunc('hour', 1e300)":                              "error: not in the years 1 to 9999",
		"date_trunc('hour', -9223372036854775808)":               "error: not in the years 1 to 9999",
		"to_timestamp(1764250507)":                               "2025-11-27T13:35:07Z",
		"to_timestamp(1764250507.25)":                            "2025-11-27T13:35:07.25Z",
		"to_timestamp(0.1 + 1764250507)":                         "2025-11-27T13:35:07.1Z",
		"to_timestamp('1')":                                      "error: must be a number",
		"unixepoch(to_timestamp(1764250507))":                    "1764250507",
		"time_bucket('5 minutes', '2026-11-27T14:38:07Z')":       "2026-11-27T14:35:00Z",
		"time_bucket('300.000s', '2026-11-27T14:38:07Z')":        "2026-11-27T14:35:00Z",
		"time_bucket(300, '2026-11-27T14:38:07Z')":               "2026-11-27T14:35:00Z",
		"time_bucket('1 hour 30 mins', '2026-11-27T14:38:07Z')":  "2026-11-27T13:30:00Z",
		"time_bucket('1w', '2026-11-29T23:59:59.9Z')":            "2026-11-23T00:00:00Z",
		"time_bucket('250ms', '1999-12-31T23:59:59.9Z')":         "1999-12-31T23:59:59.75Z",
		"time_bucket('3 months', '2026-11-27')":                  "2026-10-01T00:00:00Z",
		"time_bucket('2y', '1999-11-27')":                        "1998-01-01T00:00:00Z",
		"time_bucket('1 day', 1764250507)":                       "1764201600",
		"time_bucket('7 days', 1764250507)":                      "1763942400",
		"time_bucket(7, 13)":                                     "7",
		"time_bucket(7, -13)":                                    "-14",
		"time_bucket(0.5, 1.75)":                                 "1.5",
		"time_bucket(7, -9223372036854775808)":                   "-9.2233720368547758e+18",
		"time_bucket(NULL, 5)":                                   "",
		"time_bucket(0, 5)":                                      "error: must be positive",
		"time_bucket('1 month 1 day', 5)":                        "error: the width must be",
		"time_bucket('1.5 months', 5)":                           "error: the width must be",
		"time_bucket('5', '2026-11-27')":                         "error: the width must be",
		"time_bucket('', 5)":                                     "error: the width must be",
		"time_bucket('9e9 days', 5)":                             "error: the width must be",
		"time_bucket('999999999999 days', 5)":                    "error: the width must be",
		"time_bucket(-5, '2026-11-27')":                          "error: the width must be",
		"time_bucket('1h', 'noon')":                              "error: is not a time",
	} {
		got, err := tryRead(db, "SELECT ':' || "+text)
		said, fails := strings.CutPrefix(want, "error: ")
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), said)):
			t.Errorf("%s: the error is %v, want %q", text, err, said)
		case !fails && (err != nil || strings.TrimPrefix(got[0], ":") != want):
			t.Errorf("%s: %q and the error %v, want %s", text, got, err, want)
		}
	}
	var at time.Time
	want := time.Date(2026, 11, 27, 14, 0, 0, 0, time.UTC)
	if err := db.QueryRow("SELECT date_trunc('hour', ?)", want.Add(time.Minute)).Scan(&at); err != nil ||
		!at.Equal(want) {
		t.Errorf("%v and the error %v, want %v", at, err, want)
	}
}
