// Command api writes the exported API of packages into a folder, one file for each package:
//
//	api FOLDER PACKAGE...
//
// The name of a package's file is the last element of its path, as in sched.txt. Each line is a constant, a
// variable, a function, a type, an exported field or a method. The lines of functions and methods do not name
// their parameters. The lines are sorted. The command deletes all other .txt files in the folder.
package main

import (
	"errors"
	"fmt"
	"go/types"
	"log"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("api: ")
	if len(os.Args) < 3 {
		log.Fatal("usage: api FOLDER PACKAGE...")
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}

func run(folder string, patterns []string) error {
	const mode = packages.NeedName | packages.NeedTypes | packages.NeedDeps | packages.NeedImports
	found, err := packages.Load(&packages.Config{Mode: mode}, patterns...)
	if err != nil {
		return err
	}
	if packages.PrintErrors(found) > 0 {
		return errors.New("the packages have errors")
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	for _, p := range found {
		name := filepath.Join(folder, path.Base(p.PkgPath)+".txt")
		if _, err := os.Stat(name); err == nil {
			return fmt.Errorf("two packages would be written to %s", name)
		}
		if err := os.WriteFile(name, []byte(strings.Join(linesOf(p.Types), "")), 0o666); err != nil {
			return err
		}
	}
	return nil
}

type listing struct {
	pkg   *types.Package
	lines []string
}

func linesOf(p *types.Package) []string {
	l := &listing{pkg: p}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			l.add("const %s %s = %s", name, l.show(o.Type()), o.Val().ExactString())
		case *types.Var:
			l.add("var %s %s", name, l.show(o.Type()))
		case *types.Func:
			l.add("func %s%s", name, l.signature(o.Signature()))
		case *types.TypeName:
			l.typeName(o)
		}
	}
	slices.Sort(l.lines)
	return slices.Compact(l.lines)
}

func (l *listing) add(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...)+"\n")
}

// show formats a type. Names from other packages are qualified.
func (l *listing) show(t types.Type) string {
	return types.TypeString(t, func(other *types.Package) string {
		if other == l.pkg {
			return ""
		}
		return other.Name()
	})
}

// typeName adds a type, its exported fields and its methods.
func (l *listing) typeName(o *types.TypeName) {
	if o.IsAlias() {
		l.add("type %s = %s", o.Name(), l.show(types.Unalias(o.Type())))
		return
	}
	named := o.Type().(*types.Named)
	name := o.Name() + l.parameters(named.TypeParams())
	switch u := named.Underlying().(type) {
	case *types.Struct:
		l.add("type %s struct", name)
		l.fields(name, u)
	case *types.Interface:
		l.add("type %s interface", name)
		for m := range u.Methods() {
			if m.Exported() {
				l.add("type %s interface, %s%s", name, m.Name(), l.signature(m.Signature()))
			} else {
				l.add("type %s interface, unexported methods", name)
			}
		}
		for t := range u.EmbeddedTypes() {
			if _, named := types.Unalias(t).(*types.Named); !named {
				l.add("type %s interface, %s", name, l.show(t))
			}
		}
		return
	default:
		l.add("type %s %s", name, l.show(u))
	}
	// The method set contains the promoted methods of embedded fields.
	value := types.NewMethodSet(named)
	for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		f := m.Obj().(*types.Func)
		if !f.Exported() {
			continue
		}
		star := "*"
		if value.Lookup(f.Pkg(), f.Name()) != nil {
			star = ""
		}
		l.add("method (%s%s) %s%s", star, receiver(named), f.Name(), l.signature(m.Type().(*types.Signature)))
	}
}

// receiver formats a type with the names of its type parameters.
func receiver(t *types.Named) string {
	var each []string
	for p := range t.TypeParams().TypeParams() {
		each = append(each, p.Obj().Name())
	}
	if each == nil {
		return t.Obj().Name()
	}
	return t.Obj().Name() + "[" + strings.Join(each, ", ") + "]"
}

// fields adds the exported fields of a struct, and of the unexported structs that it embeds.
func (l *listing) fields(name string, s *types.Struct) {
	for f := range s.Fields() {
		if f.Exported() {
			l.add("type %s struct, %s %s", name, f.Name(), l.show(f.Type()))
		} else if embedded, ok := f.Type().Underlying().(*types.Struct); ok && f.Embedded() {
			l.fields(name, embedded)
		}
	}
}

// parameters formats type parameters with their constraints.
func (l *listing) parameters(list *types.TypeParamList) string {
	var each []string
	for t := range list.TypeParams() {
		each = append(each, t.Obj().Name()+" "+l.show(t.Constraint()))
	}
	if each == nil {
		return ""
	}
	return "[" + strings.Join(each, ", ") + "]"
}

// signature formats the types of parameters and results.
func (l *listing) signature(s *types.Signature) string {
	var in, out []string
	for v := range s.Params().Variables() {
		in = append(in, l.show(v.Type()))
	}
	if s.Variadic() {
		in[len(in)-1] = "..." + strings.TrimPrefix(in[len(in)-1], "[]")
	}
	for v := range s.Results().Variables() {
		out = append(out, l.show(v.Type()))
	}
	text := l.parameters(s.TypeParams()) + "(" + strings.Join(in, ", ") + ")"
	switch len(out) {
	case 0:
		return text
	case 1:
		return text + " " + out[0]
	}
	return text + " (" + strings.Join(out, ", ") + ")"
}
