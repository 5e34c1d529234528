package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCppRows builds the programs of the stores whose folders are given, and measures a few rows of every
// work. The programs compare their results with the expected results.
func TestCppRows(t *testing.T) {
	var given []string
	for _, s := range cppStores {
		if os.Getenv(s.folderVariable()) == "" {
			continue
		}
		for _, p := range peers {
			if p.store == s.name {
				given = append(given, p.name)
			}
		}
	}
	if given == nil {
		t.Skip("no folder is given, see cppStore.folderVariable")
	}
	t.Setenv("TMPDIR", t.TempDir())
	var stdout, stderr bytes.Buffer
	if status := run([]string{"-json", "-rounds", "1", "-n", "1,16,300", "-peer", strings.Join(given, ",")},
		&stdout, &stderr); status != exitOK {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	var got struct{ Rows []row }
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for work, names := range cppWorks {
		for _, name := range names {
			if slices.Contains(given, name) && !slices.ContainsFunc(got.Rows, func(r row) bool {
				return r.Work == work && r.Peer == name && r.N == 300 && r.PeerNS > 0
			}) {
				t.Errorf("%s: no row beside %s", work, name)
			}
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("files left in the temporary directory: %v (error: %v)", left, err)
	}
}

func TestEveryCppWorkIsInItsProgram(t *testing.T) {
	for _, s := range cppStores {
		source, err := cppSources.ReadFile("cpp/" + s.name + ".cpp")
		if err != nil {
			t.Fatal(err)
		}
		for work, names := range cppWorks {
			if workNamed(work) == nil {
				t.Errorf("there is no work %s", work)
			}
			for _, name := range names {
				entry := fmt.Sprintf("{%q, %q, ", work, name)
				if cppStoreOf(name) == s && !strings.Contains(string(source), entry) {
					t.Errorf("%s.cpp has no entry %s", s.name, entry)
				}
			}
		}
	}
}

func TestCppPeersNeedFolders(t *testing.T) {
	empty := t.TempDir()
	for _, s := range cppStores {
		t.Setenv(s.folderVariable(), "")
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-peer", "ark,entt-batch"},
			"-peer: entt-batch needs the folder of its sources: give -entt"},
		{[]string{"-peer", "flecs"}, "-peer: flecs needs the folder of its sources: give -flecs"},
		{[]string{"-entt", empty}, "-entt: the folder must have entt/entt.hpp: "},
		{[]string{"-flecs", empty}, "-flecs: the folder must have flecs.h: "},
	} {
		var stdout, stderr bytes.Buffer
		status := run(c.args, &stdout, &stderr)
		if status != exitUsage || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: status %d, message %q, want %d, %q", c.args, status, &stderr, exitUsage, c.want)
		}
	}
	var stdout, stderr bytes.Buffer
	status := run([]string{"-work", "clone_tree", "-n", "16", "-rounds", "1"}, &stdout, &stderr)
	if status != exitOK {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	for _, s := range cppStores {
		if note := "no rows for " + s.name; !strings.Contains(stderr.String(), note) {
			t.Errorf("message %q lacks %q", &stderr, note)
		}
		if strings.Contains(stdout.String(), s.name) {
			t.Errorf("a row beside %s, although there is no program:\n%s", s.name, &stdout)
		}
	}
}

// fakeVariable makes the test binary a program that answers like those of the folder cpp. Its value says what
// is wrong with the program.
const fakeVariable = "VAST_BENCH_FAKE_PROGRAM"

func runFake(in io.Reader, out io.Writer) {
	wrong := os.Getenv(fakeVariable)
	if wrong == "mute" {
		return
	}
	fmt.Fprintln(out, `{"units": 7}`)
	done := 0
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var order string
		var count int
		fmt.Sscan(lines.Text(), &order, &count)
		switch {
		case order == "run" && wrong == "ends":
			return
		case order == "run":
			done += count
			fmt.Fprintf(out, "{\"ns\": %d}\n", 700*count)
		case wrong == "result" || done != count:
			fmt.Fprintf(out, "{\"wrong\": \"%d repetitions, not %d\"}\n", done, count)
		default:
			fmt.Fprintln(out, `{"wrong": ""}`)
		}
	}
}

func TestCppSide(t *testing.T) {
	for wrong, want := range map[string]string{"nothing": "", "mute": "EOF", "ends": "EOF",
		"result": "repetitions, not "} {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), fakeVariable+"="+wrong)
		theirs := startCppSide(command)
		ours := side{units: 7, sample: timeAll(&struct{}{}, nothing), check: func(int) error { return nil }}
		var got times
		switch err := quick.compare(&ours, &theirs, 2, &got); {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", wrong, err, want)
			}
		case err != nil:
			t.Error(err)
		case !slices.Equal(got.theirs, []float64{100, 100}):
			t.Errorf("samples %v, want 100 ns per entity", got.theirs)
		}
		if !command.ProcessState.Exited() {
			t.Errorf("%s: the program still runs", wrong)
		}
	}
	missing := startCppSide(exec.Command(filepath.Join(t.TempDir(), "none")))
	if err := missing.finish(); err == nil {
		t.Error("a missing program gives no error")
	}
}
