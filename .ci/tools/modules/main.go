// Command modules gives the modules of the workspace a version and writes them to a module proxy in a folder.
// It writes dependencies first.
//
//	modules -version v0.2.0 -proxy DIR
//
// The current folder must be a checkout that holds only the files of a commit. The command changes go.work
// and each go.mod and go.sum. Afterwards each requirement between modules of the workspace names this
// version, and the go.sum files have the checksums of the modules in the proxy. The command prints the
// folder, path and tag of each module that it writes to the proxy.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// untagged modules get no version: they are built only in a checkout.
var untagged = []string{"bench"}

// mod is a module of the workspace.
type mod struct {
	folder string
	file   *modfile.File
	sums   string // lines for the go.sum of modules that require this one; publish sets them
}

func (m *mod) path() string { return m.file.Module.Mod.Path }

// tag returns the name of the tag that gives the module a version.
func (m *mod) tag(version string) string {
	if m.folder == "." {
		return version
	}
	return m.folder + "/" + version
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("modules: ")
	version := flag.String("version", "", "the `version` that the modules get, such as v0.2.0")
	proxy := flag.String("proxy", "", "the `folder` of the proxy")
	flag.Parse()
	if *version == "" || *proxy == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, *version, *proxy); err != nil {
		log.Fatal(err)
	}
}

func run(out io.Writer, version, proxy string) error {
	mods, work, err := workspace()
	if err != nil {
		return err
	}
	ordered, err := order(mods)
	if err != nil {
		return err
	}
	for _, m := range ordered {
		if err := m.require(ordered, version); err != nil {
			return err
		}
		if slices.Contains(untagged, m.folder) {
			continue
		}
		if err := m.publish(version, proxy); err != nil {
			return err
		}
		fmt.Fprintln(out, m.folder, m.path(), m.tag(version))
	}
	for _, r := range work.Replace {
		if err := work.AddReplace(r.Old.Path, version, r.New.Path, ""); err != nil {
			return err
		}
		if r.Old.Version != version {
			if err := work.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return err
			}
		}
	}
	work.Cleanup()
	return os.WriteFile("go.work", modfile.Format(work.Syntax), 0o644)
}

// workspace reads go.work and the go.mod of each of its modules.
func workspace() (mods []*mod, work *modfile.WorkFile, err error) {
	text, err := os.ReadFile("go.work")
	if err != nil {
		return nil, nil, err
	}
	work, err = modfile.ParseWork("go.work", text, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, use := range work.Use {
		name := filepath.Join(use.Path, "go.mod")
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			return nil, nil, err
		}
		if len(file.Replace) > 0 {
			return nil, nil, fmt.Errorf("%s has a replace directive, which go install refuses", name)
		}
		mods = append(mods, &mod{folder: path.Clean(filepath.ToSlash(use.Path)), file: file})
	}
	return mods, work, nil
}

// order sorts modules: dependencies come first.
func order(mods []*mod) ([]*mod, error) {
	var ordered []*mod
	for len(ordered) < len(mods) {
		before := len(ordered)
		for _, m := range mods {
			if slices.Contains(ordered, m) {
				continue
			}
			missing := func(o *mod) bool { return m.requires(o) && !slices.Contains(ordered, o) }
			if !slices.ContainsFunc(mods, missing) {
				ordered = append(ordered, m)
			}
		}
		if len(ordered) == before {
			return nil, fmt.Errorf("modules require each other in a cycle")
		}
	}
	return ordered, nil
}

func (m *mod) requires(o *mod) bool {
	path := o.path()
	return slices.ContainsFunc(m.file.Require, func(r *modfile.Require) bool { return r.Mod.Path == path })
}

// require sets the required versions of siblings in go.mod, and the sums of these siblings in go.sum. The
// caller must first publish the siblings that m requires.
func (m *mod) require(siblings []*mod, version string) error {
	name := filepath.Join(m.folder, "go.sum")
	sums, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	var lines []string
	for line := range strings.Lines(string(sums)) {
		ofSibling := func(o *mod) bool { return strings.HasPrefix(line, o.path()+" ") }
		if !slices.ContainsFunc(siblings, ofSibling) {
			lines = append(lines, line)
		}
	}
	for _, o := range siblings {
		if !m.requires(o) {
			continue
		}
		if err := m.file.AddRequire(o.path(), version); err != nil {
			return err
		}
		lines = slices.AppendSeq(lines, strings.Lines(o.sums))
	}
	slices.SortFunc(lines, compareSums)
	if text := strings.Join(lines, ""); text != "" {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	text, err := m.file.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.folder, "go.mod"), text, 0o644)
}

// compareSums compares two lines of go.sum in the order in which the go command writes them.
func compareSums(a, b string) int {
	x, y := strings.Fields(a), strings.Fields(b)
	xVersion, xFile, _ := strings.Cut(x[1], "/")
	yVersion, yFile, _ := strings.Cut(y[1], "/")
	return cmp.Or(strings.Compare(x[0], y[0]), semver.Compare(xVersion, yVersion),
		strings.Compare(xFile, yFile))
}

// publish writes the module to the proxy, in the layout that the go command expects, and sets m.sums.
func (m *mod) publish(version, proxy string) error {
	escaped, err := module.EscapePath(m.path())
	if err != nil {
		return err
	}
	folder := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(m.folder, "go.mod"))
	if err != nil {
		return err
	}
	files := map[string]string{
		"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`,
		version + ".mod": string(text),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	archive := filepath.Join(folder, version+".zip")
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	if err := zip.CreateFromDir(f, module.Version{Path: m.path(), Version: version}, m.folder); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	whole, err := dirhash.HashZip(archive, dirhash.Hash1)
	if err != nil {
		return err
	}
	mod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(m.folder, "go.mod"))
	})
	if err != nil {
		return err
	}
	m.sums = fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", m.path(), version, whole, m.path(), version, mod)
	return nil
}
