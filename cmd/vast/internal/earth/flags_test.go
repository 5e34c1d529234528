package earth

import (
	"errors"
	"flag"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

func TestFlags(t *testing.T) {
	standard := options{travellers: 1_000_000, hz: 60, seed: 1}
	with := func(change func(*options)) options {
		o := standard
		change(&o)
		return o
	}
	for _, c := range []struct {
		args string
		want options
	}{
		{"", standard},
		{"-travellers 5", with(func(o *options) { o.travellers = 5 })},
		{"--travellers=1_000", with(func(o *options) { o.travellers = 1000 })},
		{"-places a.txt", with(func(o *options) { o.places = "a.txt" })},
		{"-hz 0 -ticks 100", with(func(o *options) { o.hz, o.ticks = 0, 100 })},
		{"-for 1m30s", with(func(o *options) { o.length = 90 * time.Second })},
		{"-for 0", standard},
		{"-seed 18446744073709551615", with(func(o *options) { o.seed = math.MaxUint64 })},
		{"-workers 3 -memory-limit 512MiB", with(func(o *options) { o.workers, o.memoryLimit = 3, 512<<20 })},
		{"-inspect off", with(func(o *options) { o.inspect = noInspector })},
		{"-inspect :8080 -inspect-write", with(func(o *options) { o.inspect, o.inspectAll = ":8080", true })},
		{"-inspect [::1]:0", with(func(o *options) { o.inspect = "[::1]:0" })},
		{"-json", with(func(o *options) { o.json = true })},
		{"-plain -capture x.svg", with(func(o *options) { o.plain, o.capture = true, "x.svg" })},
		{"-json -capture x.svg -ticks 1 -for 1s", with(func(o *options) {
			o.json, o.capture, o.ticks, o.length = true, "x.svg", 1, time.Second
		})},
	} {
		got, err := parse(strings.Fields(c.args))
		if err != nil || got != c.want {
			t.Errorf("parse(%q) = %+v, %v, want %+v", c.args, got, err, c.want)
		}
	}
}

func TestFlagErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-nope", "flag provided but not defined: -nope"},
		{"extra", `unexpected argument "extra"`},
		{"-json extra", `unexpected argument "extra"`},
		{"-travellers", "flag needs an argument: -travellers"},
		{"-travellers 0", `invalid value "0" for flag -travellers: want a whole number from 1 to 100000000`},
		{"-travellers -1", `invalid value "-1" for flag -travellers: want a whole number from 1`},
		{"-travellers 1e6", `invalid value "1e6" for flag -travellers: want a whole number from 1`},
		{"-travellers 99999999999999999999", "want a whole number from 1 to 100000000"},
		{"-hz -60", `invalid value "-60" for flag -hz: want a whole number from 0 to 1000000`},
		{"-hz 59.9", "want a whole number"},
		{"-ticks -1", `invalid value "-1" for flag -ticks: want a whole number of 0 or more`},
		{"-for -1s",
			`invalid value "-1s" for flag -for: want a time of 0 or more with its unit, such as 30s`},
		{"-for 30", `invalid value "30" for flag -for: want a time of 0 or more with its unit, such as 30s`},
		{"-seed -1", `invalid value "-1" for flag -seed: want a whole number from 0 to 18446744073709551615`},
		{"-workers -2", `invalid value "-2" for flag -workers: want a whole number from 0 to 4096`},
		{"-memory-limit lots",
			`invalid value "lots" for flag -memory-limit: want a size of at least 1 byte, such as 512MiB`},
		{"-memory-limit -5MiB", "want a size of at least 1 byte"},
		{"-inspect 8080", `invalid value "8080" for flag -inspect: want host:port such as 127.0.0.1:8080`},
		{"-inspect localhost:", "want host:port"},
		{"-inspect on", "any port on all addresses; or off"},
		{"-sql off", `invalid value "off" for flag -sql: want host:port such as 127.0.0.1:8080, or :0 for ` +
			"any port on all addresses"},
		{"-inspect off -inspect-write", "-inspect off and -inspect-write contradict each other"},
		{"-json=perhaps", `invalid boolean value "perhaps"`},
		{"-json -plain", "-json and -plain contradict each other"},
	} {
		_, err := parse(strings.Fields(c.args))
		if _, ok := errors.AsType[*cli.UsageError](err); !ok {
			t.Errorf("parse(%q): %v, want a UsageError", c.args, err)
			continue
		}
		if text := err.Error(); !strings.Contains(text, c.want) ||
			!strings.HasSuffix(text, "; `vast earth -h` shows the usage") || strings.Contains(text, "\n") {
			t.Errorf("parse(%q): %q, want one line with %q and the hint at -h", c.args, text, c.want)
		}
	}
	for _, args := range []string{"-h", "-help", "--help", "-hz 5 -h"} {
		if _, err := parse(strings.Fields(args)); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("parse(%q): %v, want flag.ErrHelp", args, err)
		}
	}
}
