package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The peers entt and flecs are stores for C++. The folder cpp has a program for each, which does some of the
// works: see cppWorks. The sources of the stores are not part of this module: the flags -entt and -flecs name
// their folders. A program is built once, before the first row. It runs as a child process. Its arguments are
// the work, the peer and the number of entities:
//
//	entt query2comp entt-group 1000
//
// The program sets up the work and prints {"units": 1000}. Then it answers each line of its standard input
// with one JSON object in a line:
//
//	run 40      do the work 40 times; {"ns": 12345} is the time of the work
//	check 52    check the state after 52 repetitions; {"wrong": "…"} has a message, or "" for a right state
//
// While the program waits for a line, it takes no processor time from Vast's side.

//go:embed cpp
var cppSources embed.FS

// A cppStore is an entity store for C++.
type cppStore struct {
	name   string // name of the store, of the flag, and of the program's source
	header string // path of the header in the store's folder
	source string // path of a source in C in the store's folder; empty for none
	folder string // the store's folder; empty if it is not given
}

var cppStores = []*cppStore{
	{name: peerEnTT, header: "entt/entt.hpp"},
	{name: peerFlecs, header: "flecs.h", source: "flecs.c"},
}

// folderVariable returns the environment variable that gives the folder if the flag does not.
func (s *cppStore) folderVariable() string { return "VAST_BENCH_" + strings.ToUpper(s.name) }

// cppPrograms has the paths of the programs, by store.
var cppPrograms = make(map[string]string)

// cppWorks has the works that the programs can do, each with its peers.
var cppWorks = map[string][]string{
	"query2comp":          {peerEnTT, peerEnTTGroup, peerFlecs},
	"hierarchy_join":      {peerEnTT, peerFlecs},
	"hierarchy_join_born": {peerEnTT, peerFlecs},
	"group_by":            {peerEnTT, peerFlecs},
	"group_by_regrouped":  {peerEnTT, peerFlecs},
	"group_by_born":       {peerEnTT, peerFlecs},
	"add_remove":          {peerEnTT, peerEnTTBatch, peerFlecs},
	"observe":             {peerEnTT, peerFlecs},
	"events":              {peerEnTT, peerFlecs},
	"create2comp":         {peerEnTT, peerEnTTBatch, peerFlecs, peerFlecsBatch},
	"clone2comp":          {peerEnTT, peerFlecs},
	"clone_tree":          {peerEnTT, peerFlecs},
	"prefab2comp":         {peerEnTTBatch, peerFlecsBatch},
	"delete2comp":         {peerEnTT, peerEnTTBatch, peerFlecs, peerFlecsBatch},
}

// init adds the matches with the programs. Vast's side is the same as in the rows with Ark.
func init() {
	for i := range workloads {
		w := &workloads[i]
		for _, name := range cppWorks[w.name] {
			beside := peerArk
			if peerNamed(name).batch {
				beside = peerArkBatch
			}
			at := slices.IndexFunc(w.matches, func(m match) bool { return m.peer == beside })
			w.matches = append(w.matches, match{peer: name, ours: w.matches[at].ours,
				theirs: newCppSide(w.name, name)})
		}
	}
}

// cppStoreOf returns the store of a peer, or nil if the peer runs in this process.
func cppStoreOf(name string) *cppStore {
	for _, s := range cppStores {
		if s.name == peerNamed(name).store {
			return s
		}
	}
	return nil
}

// absent reports whether the peer is a store for C++ whose folder is not given.
func absent(name string) bool {
	s := cppStoreOf(name)
	return s != nil && s.folder == ""
}

// checkFolder returns an error if the folder is given and lacks the store's header.
func (s *cppStore) checkFolder() error {
	if s.folder == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(s.folder, s.header)); err != nil {
		return fmt.Errorf("-%s: the folder must have %s: %w", s.name, s.header, err)
	}
	return nil
}

// buildPrograms builds the programs of the planned rows. Call removePrograms at the end.
func buildPrograms(plans []plan, progress io.Writer) (removePrograms func(), err error) {
	dir := ""
	removePrograms = func() {
		clear(cppPrograms)
		if dir != "" {
			removeFolder(dir)
		}
	}
	for _, p := range plans {
		s := cppStoreOf(p.match.peer)
		if s == nil || cppPrograms[s.name] != "" {
			continue
		}
		if dir == "" {
			if dir, err = makeFolder(); err != nil {
				return removePrograms, err
			}
			if err := os.CopyFS(dir, cppSources); err != nil {
				return removePrograms, err
			}
		}
		fmt.Fprintf(progress, "bench: building the program for %s\n", s.name)
		if cppPrograms[s.name], err = s.build(filepath.Join(dir, "cpp")); err != nil {
			return removePrograms, err
		}
	}
	return removePrograms, nil
}

// build builds the program of the store in dir, and returns the path of the program.
func (s *cppStore) build(dir string) (program string, err error) {
	program = filepath.Join(dir, s.name)
	files := []string{s.name + ".cpp"}
	if s.source != "" {
		object := s.source + ".o"
		path, err := filepath.Abs(filepath.Join(s.folder, s.source))
		if err != nil {
			return "", err
		}
		if err := compile(dir, cmp.Or(os.Getenv("CC"), "gcc"), "-c", path, "-o", object); err != nil {
			return "", err
		}
		files = append(files, object)
	}
	include, err := filepath.Abs(s.folder)
	if err != nil {
		return "", err
	}
	return program, compile(dir, cmp.Or(os.Getenv("CXX"), "g++"),
		append(files, "-std=c++17", "-isystem", include, "-o", program)...)
}

// compile runs a compiler in a folder, for the fastest code.
func compile(dir, compiler string, args ...string) error {
	command := exec.Command(compiler, append([]string{"-O3", "-march=native", "-DNDEBUG"}, args...)...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command.Args, " "), err, out)
	}
	return nil
}

// A cppSide is a program that runs.
type cppSide struct {
	command *exec.Cmd
	orders  io.WriteCloser
	answers *json.Decoder
	err     error // the first error
}

// A cppAnswer is a line of a program.
type cppAnswer struct {
	Units int    `json:"units"`
	NS    int64  `json:"ns"`
	Wrong string `json:"wrong"`
}

// newCppSide returns a function that starts a program and makes a side of it.
func newCppSide(work, peer string) func(n int) side {
	return func(n int) side {
		program := cppPrograms[peerNamed(peer).store]
		return startCppSide(exec.Command(program, work, peer, fmt.Sprint(n)))
	}
}

// startCppSide starts a program. If an error occurs, now or later, the side's check returns it.
func startCppSide(command *exec.Cmd) side {
	s := &cppSide{command: command}
	command.Stderr = os.Stderr
	var out io.Reader
	if s.orders, s.err = command.StdinPipe(); s.err == nil {
		if out, s.err = command.StdoutPipe(); s.err == nil {
			s.err = command.Start()
		}
	}
	s.answers = json.NewDecoder(out)
	made := side{units: max(1, s.answer().Units), check: s.check, close: s.close}
	made.sample = func(reps int) time.Duration {
		took := s.ask("run", reps).NS
		if s.err != nil {
			return time.Second // ends the calibration
		}
		return time.Duration(took)
	}
	return made
}

func (s *cppSide) answer() (a cppAnswer) {
	if s.err == nil {
		if err := s.answers.Decode(&a); err != nil {
			s.err = fmt.Errorf("%s: %w", strings.Join(s.command.Args, " "), err)
		}
	}
	return a
}

func (s *cppSide) ask(order string, count int) cppAnswer {
	if s.err == nil {
		_, s.err = fmt.Fprintln(s.orders, order, count)
	}
	return s.answer()
}

func (s *cppSide) check(done int) error {
	if wrong := s.ask("check", done).Wrong; s.err == nil && wrong != "" {
		return fmt.Errorf("%s: %s", strings.Join(s.command.Args, " "), wrong)
	}
	return s.err
}

// close ends the program, which ends at the end of its input.
func (s *cppSide) close() {
	if s.command.Process != nil {
		_ = s.orders.Close()
		_ = s.command.Wait()
	}
}
