package peers_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// stated is the last paragraph of a program's comment.
var stated = regexp.MustCompile(`\nOriginal: (\w+), (\S+), (\d+) lines\. Here: (\d+)\.\n$`)

// TestLengths checks the lengths in the comments of the programs and in README.md, and that no program is
// longer than its original.
func TestLengths(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	programs, here, there := 0, 0, 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Example") {
				continue
			}
			m := stated.FindStringSubmatch(f.Doc.Text())
			if m == nil {
				t.Errorf("the comment of %s does not state the original and both lengths", f.Name.Name)
				continue
			}
			file := files.File(f.Pos())
			lines := countLines(text[file.Offset(f.Pos()):file.Offset(f.End())])
			original, _ := strconv.Atoi(m[3])
			if m[4] != strconv.Itoa(lines) {
				t.Errorf("%s states %s lines and has %d", f.Name.Name, m[4], lines)
			}
			if lines > original {
				t.Errorf("%s has %d lines, and its original %d", f.Name.Name, lines, original)
			}
			programs, here, there = programs+1, here+lines, there+original
			fmt.Fprintf(&table, "| `%s` | %s | `%s` | %d | %d |\n", f.Name.Name, m[1], m[2], original, lines)
		}
	}
	fmt.Fprintf(&table, "| together | | | %d | %d |\n", there, here)
	if programs < 20 {
		t.Errorf("there are only %d programs", programs)
	}
	if !strings.Contains(string(readme), "|---|---|---|---|---|\n"+table.String()) {
		t.Errorf("README.md should have this table:\n%s", table.String())
	}
}

// countLines returns the number of lines that hold code.
func countLines(text []byte) (lines int) {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0) // skips comments
	for last := 0; ; {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue // inserted at the end of a line
		}
		if line := file.Line(pos); line > last {
			lines, last = lines+1, line
		}
	}
}
