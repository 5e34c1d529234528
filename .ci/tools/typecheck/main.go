// Command typecheck checks the types of packages and their tests for the system of GOOS and GOARCH:
//
//	typecheck PATTERN...
//
// The command reads the source of all dependencies and compiles nothing. If the build cache holds nothing for
// the system, the command takes a fraction of the time of go vet.
package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/vastgo/vast"

func main() {
	log.SetFlags(0)
	log.SetPrefix("typecheck: ")
	here, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	config := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes |
			packages.NeedModule,
		Tests: true,
		ParseFile: func(files *token.FileSet, name string, source []byte) (*ast.File, error) {
			f, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
			if f != nil && !strings.HasPrefix(name, here) {
				dropBodies(f)
			}
			return f, err
		},
	}
	found, err := packages.Load(config, os.Args[1:]...)
	if err != nil {
		log.Fatal(err)
	}
	if len(found) == 0 {
		log.Fatal("no package matches")
	}
	failed := false
	for _, p := range found {
		// Dependencies and the main packages of tests have errors about unused imports, because their
		// functions have no bodies here.
		if !strings.HasPrefix(p.PkgPath, module) || strings.HasSuffix(p.PkgPath, ".test") {
			continue
		}
		for _, e := range p.Errors {
			log.Print(e)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
	log.Printf("%d packages for %s/%s", len(found), os.Getenv("GOOS"), os.Getenv("GOARCH"))
}

// dropBodies removes the bodies of a dependency's functions, because its importers need only the types.
func dropBodies(f *ast.File) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			fn.Body = nil
		}
	}
}
