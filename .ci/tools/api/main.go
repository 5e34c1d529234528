// Command api writes the exported API of packages, one name a line, in the order of the alphabet:
//
//	api PACKAGE...
//
// Each line says the package, the kind of the name, and its type without the names of parameters, as the listings of the
// Go tree do.
package main

import (
	"flag"
	"fmt"
	"go/types"
	"log"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("api: ")
	flag.Parse()
	const mode = packages.NeedName | packages.NeedTypes | packages.NeedDeps | packages.NeedImports | packages.NeedSyntax | packages.NeedTypesInfo
	found, err := packages.Load(&packages.Config{Mode: mode}, flag.Args()...)
	if err != nil {
		log.Fatal(err)
	}
	if packages.PrintErrors(found) > 0 {
		os.Exit(1)
	}
	var lines []string
	for _, p := range found {
		lines = append(lines, exported(p.Types)...)
	}
	slices.Sort(lines)
	fmt.Print(strings.Join(lines, ""))
}

// exported returns a line for each exported name of a package.
func exported(p *types.Package) (lines []string) {
	inside := func(other *types.Package) string {
		if other == p {
			return ""
		}
		return other.Name()
	}
	add := func(format string, args ...any) {
		lines = append(lines, fmt.Sprintf("pkg %s, %s\n", p.Path(), fmt.Sprintf(format, args...)))
	}
	show := func(t types.Type) string { return types.TypeString(t, inside) }
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			add("const %s %s = %s", name, show(o.Type()), o.Val())
		case *types.Var:
			add("var %s %s", name, show(o.Type()))
		case *types.Func:
			add("func %s%s", name, signature(o.Signature(), inside))
		case *types.TypeName:
			typeLines(o, inside, add)
		}
	}
	return lines
}

// typeLines tells of a type, its exported fields and its methods.
func typeLines(o *types.TypeName, inside types.Qualifier, add func(string, ...any)) {
	if o.IsAlias() {
		add("type %s = %s", o.Name(), types.TypeString(types.Unalias(o.Type()), inside))
		return
	}
	named := o.Type().(*types.Named)
	name := o.Name() + parameters(named.TypeParams(), inside)
	switch u := named.Underlying().(type) {
	case *types.Struct:
		add("type %s struct", name)
		for f := range u.Fields() {
			if f.Exported() {
				add("type %s struct, %s %s", name, f.Name(), types.TypeString(f.Type(), inside))
			}
		}
	case *types.Interface:
		add("type %s interface", name)
		for m := range u.Methods() {
			if m.Exported() {
				add("type %s interface, %s%s", name, m.Name(), signature(m.Signature(), inside))
			} else {
				add("type %s interface, unexported methods", name)
			}
		}
	default:
		add("type %s %s", name, types.TypeString(u, inside))
	}
	for m := range named.Methods() {
		if m.Exported() {
			receiver := types.TypeString(m.Signature().Recv().Type(), inside)
			add("method (%s) %s%s", receiver, m.Name(), signature(m.Signature(), inside))
		}
	}
}

// parameters writes type parameters with their constraints.
func parameters(list *types.TypeParamList, inside types.Qualifier) string {
	var each []string
	for t := range list.TypeParams() {
		each = append(each, t.Obj().Name()+" "+types.TypeString(t.Constraint(), inside))
	}
	if each == nil {
		return ""
	}
	return "[" + strings.Join(each, ", ") + "]"
}

// signature writes what a function takes and returns.
func signature(s *types.Signature, inside types.Qualifier) string {
	var in, out []string
	for v := range s.Params().Variables() {
		in = append(in, types.TypeString(v.Type(), inside))
	}
	if s.Variadic() {
		in[len(in)-1] = "..." + strings.TrimPrefix(in[len(in)-1], "[]")
	}
	for v := range s.Results().Variables() {
		out = append(out, types.TypeString(v.Type(), inside))
	}
	text := parameters(s.TypeParams(), inside) + "(" + strings.Join(in, ", ") + ")"
	switch len(out) {
	case 0:
		return text
	case 1:
		return text + " " + out[0]
	}
	return text + " (" + strings.Join(out, ", ") + ")"
}
