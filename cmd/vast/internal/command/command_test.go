package command

import (
	"bytes"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

func run(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = Run(args, &out, &errs)
	return status, out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	status, stdout, help := run()
	if status != 2 || stdout != "" {
		t.Errorf("without a command: exit status %d, stdout %q; want 2 and no stdout", status, stdout)
	}
	for _, want := range []string{"usage: vast COMMAND", "\n  earth ", "\n  bench ", "\n  doctor ",
		"\n  top ", "\n  query ", "\n  sql ", "\n  store ", "\n  soak ", "\n  docs ", "\n  version "} {
		if !strings.Contains(help, want) {
			t.Errorf("usage lacks %q:\n%s", want, help)
		}
	}
	for _, arg := range []string{"help", "-h", "-help", "--help"} {
		if status, stdout, stderr := run(arg); status != 0 || stdout != help || stderr != "" {
			t.Errorf("%s: exit status %d, stdout %q, stderr %q; want 0 and the usage", arg, status, stdout,
				stderr)
		}
	}
}

func TestUnknownCommand(t *testing.T) {
	for _, name := range []string{"erth", "", "-json", "Earth"} {
		status, stdout, stderr := run(name)
		if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 ||
			!strings.Contains(stderr, "unknown command \""+name+"\"") {
			t.Errorf("%q: exit status %d, stdout %q, stderr %q; want 2 and one line on stderr", name, status,
				stdout, stderr)
		}
	}
	for _, args := range [][]string{{"help", "help"}, {"-h", "-h"}, {"help", "--help", "x"}} {
		status, stdout, _ := run(args...)
		if status != 0 || !strings.Contains(stdout, "usage: vast COMMAND") {
			t.Errorf("%q: exit status %d, stdout %q; want 0 and the usage", args, status, stdout)
		}
	}
	if status, _, stderr := run("help", "erth"); status != 2 || !strings.Contains(stderr, "erth") {
		t.Errorf("help erth: exit status %d, stderr %q; want 2 and erth on stderr", status, stderr)
	}
}

func TestHelpOfCommands(t *testing.T) {
	names := []string{"earth", "bench", "doctor", "top", "query", "sql", "store", "soak", "docs", "version"}
	for _, name := range names {
		for _, args := range [][]string{{name, "-h"}, {"help", name}} {
			status, stdout, stderr := run(args...)
			if status != 0 || !strings.Contains(stdout+stderr, "vast "+name) {
				t.Errorf("%q: exit status %d, stdout %q, stderr %q; want 0 and its usage", args, status,
					stdout, stderr)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	status, stdout, stderr := run("version")
	if status != 0 || stderr != "" ||
		!regexp.MustCompile(`^vast \S+ go1\.\S+ [a-z0-9]+/[a-z0-9]+\n$`).MatchString(stdout) {
		t.Errorf("version: exit status %d, stdout %q, stderr %q; want 0 and the versions", status, stdout,
			stderr)
	}
	if status, stdout, stderr := run("version", "now"); status != 2 || stdout != "" ||
		!strings.Contains(stderr, `"now"`) {
		t.Errorf("version now: exit status %d, stdout %q, stderr %q; want 2 and an error", status, stdout,
			stderr)
	}
}

func TestModuleVersion(t *testing.T) {
	for _, c := range []struct {
		info *debug.BuildInfo
		ok   bool
		want string
	}{
		{nil, false, "(devel)"},
		{&debug.BuildInfo{}, true, "(devel)"},
		{&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, true, "v1.2.3"},
	} {
		if got := moduleVersion(c.info, c.ok); got != c.want {
			t.Errorf("moduleVersion(%+v) = %q, want %q", c.info, got, c.want)
		}
	}
}
