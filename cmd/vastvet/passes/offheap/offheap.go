// Package offheap finds Go pointers that are to lie outside of Go's heap, where the collector does not look.
package offheap

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/cfg"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/flow"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds element types with Go pointers, and Go pointers that are stored through unsafe.
var Analyzer = check.New("offheap", `find Go pointers stored outside of Go's heap

The collector does not look into a column, a container or an arena: what only a pointer there leads to is freed while it
is in use. So a type with Go pointers panics when the container is made. This says it before, also where a generic
function of the program's stands between; and it finds pointers that are smuggled in by package unsafe, or as a uintptr,
where they certainly lead to what only they keep: what leads off the heap itself, or to a variable of a package, may be there.

	type Ship struct{ Name string }

	ships := vast.NewColumn[Ship](w)     // wrong: panics
	ships := vast.NewHeapColumn[Ship](w) // right

	*(**Crew)(unsafe.Pointer(seat.Get(e))) = new(Crew) // wrong
	seat.Set(e, Seat{Crew: handle})                    // right`, run, new(plain))

// plain is the fact that some type parameters of a function must hold no Go pointers.
type plain struct{ Parameters []int }

func (*plain) AFact() {}

func (f *plain) String() string { return fmt.Sprint("plain", f.Parameters) }

func run(p *check.Pass) {
	f := &finder{Pass: p, own: map[*types.Func]*plain{}, graphs: map[*ast.FuncDecl]*cfg.CFG{}}
	f.infer()
	for _, file := range p.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				f.instance(id)
			}
			return true
		})
	}
	f.stores()
}

// checks is the path of the package whose Check refuses types with pointers.
const checks = lib.Module + "/internal/layout"

type finder struct {
	*check.Pass
	own    map[*types.Func]*plain
	graphs map[*ast.FuncDecl]*cfg.CFG
	values *trace.Values
	uses   map[*types.Var][]inspector.Cursor
}

// need returns which type parameters of a function must hold no Go pointers.
func (f *finder) need(fn *types.Func) []int {
	fn = fn.Origin()
	if fn.Pkg() != nil && fn.Pkg().Path() == checks && fn.Name() == "Check" {
		return []int{0}
	}
	if known := f.own[fn]; known != nil {
		return known.Parameters
	}
	var known plain
	if fn.Pkg() != f.Pkg && f.ImportObjectFact(fn, &known) {
		return known.Parameters
	}
	return nil
}

// infer finds out which functions of the package hand their type parameters on to where there must be no Go pointers,
// in all calls: what a function does under a condition may depend on the type.
func (f *finder) infer() {
	var generic []*ast.FuncDecl
	for _, file := range f.Files {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil && f.parameters(d).Len() > 0 && !f.recovers(d) {
				generic = append(generic, d)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, d := range generic {
			fn := f.TypesInfo.Defs[d.Name].(*types.Func)
			needed := f.needed(d)
			if len(needed) > len(f.need(fn)) {
				f.own[fn] = &plain{needed}
				changed = true
			}
		}
	}
	for fn, fact := range f.own {
		f.ExportObjectFact(fn, fact)
	}
}

// parameters returns the type parameters of a function, or of a method's type.
func (f *finder) parameters(d *ast.FuncDecl) *types.TypeParamList {
	signature := f.TypesInfo.Defs[d.Name].(*types.Func).Signature()
	if d.Recv != nil {
		return signature.RecvTypeParams()
	}
	return signature.TypeParams()
}

// recovers reports whether a function may go on behind a panic.
func (f *finder) recovers(d *ast.FuncDecl) (found bool) {
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			id, ok := ast.Unparen(call.Fun).(*ast.Ident)
			found = found || ok && id.Name == "recover" && f.TypesInfo.Types[call.Fun].IsBuiltin()
		}
		return !found
	})
	return found
}

// arguments returns the function that an identifier stands for, and the types it is used with: those of its own type
// parameters, or of its receiver's.
func (f *finder) arguments(id *ast.Ident) (*types.Func, *types.TypeList) {
	fn, ok := f.TypesInfo.Uses[id].(*types.Func)
	if !ok {
		return nil, nil
	}
	if instance, ok := f.TypesInfo.Instances[id]; ok {
		return fn, instance.TypeArgs
	}
	if t := receiver(fn); t != nil {
		return fn, t.TypeArgs()
	}
	return fn, nil
}

// receiver returns the type that a function is a method of, or nil.
func receiver(fn *types.Func) *types.Named {
	recv := fn.Signature().Recv()
	if recv == nil {
		return nil
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, _ := t.(*types.Named)
	return named
}

// needed returns the numbers of the type parameters of a function that it needs without pointers.
func (f *finder) needed(d *ast.FuncDecl) (numbers []int) {
	parameters := f.parameters(d)
	needed := map[*types.TypeParam]bool{}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			id := called(n)
			if id == nil {
				return true
			}
			callee, arguments := f.arguments(id)
			if arguments.Len() == 0 {
				return true
			}
			for _, i := range f.need(callee) {
				inside := map[*types.TypeParam]bool{}
				pointer(arguments.At(i), "", inside)
				if len(inside) > 0 && (f.checking(d) || f.always(d, n)) {
					for t := range inside {
						needed[t] = true
					}
				}
			}
		}
		return true
	})
	for i := range parameters.Len() {
		if needed[parameters.At(i)] {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// checking reports whether a function is one of the library's that check types: there conditions ask whether that was
// done already.
func (f *finder) checking(d *ast.FuncDecl) bool {
	return !f.InTest(d) && slices.ContainsFunc(f.Pkg.Imports(), func(pkg *types.Package) bool { return pkg.Path() == checks })
}

// always reports whether every call of a function makes a call in it.
func (f *finder) always(d *ast.FuncDecl, call *ast.CallExpr) bool {
	g := f.graphs[d]
	if g == nil {
		g = flow.Graph(f.TypesInfo, d.Body)
		f.graphs[d] = g
	}
	b, _ := flow.Find(g, call)
	return b != nil && flow.Always(g, b)
}

// called is the identifier of the function that is called.
func called(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	switch x := fun.(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	}
	return nil
}

// columns are the functions that make columns, which there are for Go pointers too.
var columns = []string{"NewColumn", "NewColumnWith", "NewSparseColumn", "NewSparseColumnWith"}

// instance reports a function that is used with a type it must not have.
func (f *finder) instance(id *ast.Ident) {
	fn, arguments := f.arguments(id)
	if arguments.Len() == 0 || f.Provoked(id) {
		return
	}
	for _, i := range f.need(fn) {
		t := arguments.At(i)
		if path, kind := pointer(t, name(t), map[*types.TypeParam]bool{}); kind != "" {
			other := ""
			if lib.Own(fn.Pkg()) && slices.Contains(columns, fn.Name()) {
				other = ", or make it a HeapColumn"
			}
			called := fn.Name() + "[" + name(t) + "]"
			if of := receiver(fn); of != nil {
				called = name(of) + "." + fn.Name()
			}
			f.Say(id, "%s panics: %s is %s, and memory outside Go's heap must not hold Go pointers; keep %s%s", called, path, kind,
				remedy(kind), other)
			return
		}
	}
}

// name returns the name of a type as its own package writes it.
func name(t types.Type) string {
	return types.TypeString(t, func(*types.Package) string { return "" })
}

// pointer returns the path of the first Go pointer inside t, which path leads to, and what it is; or empty strings.
// Type parameters that lie inside it notes.
func pointer(t types.Type, path string, parameters map[*types.TypeParam]bool) (at, kind string) {
	return inner(t, path, parameters, map[types.Type]bool{})
}

// inner is pointer. seen are the types in which there was none: types that hold others twice would take for ever.
func inner(t types.Type, path string, parameters map[*types.TypeParam]bool, seen map[types.Type]bool) (at, kind string) {
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		parameters[p] = true
		return "", ""
	}
	if seen[t] {
		return "", ""
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			field := u.Field(i)
			if at, kind = inner(field.Type(), path+"."+field.Name(), parameters, seen); kind != "" {
				return at, kind
			}
		}
	case *types.Array:
		if u.Len() != 0 {
			return inner(u.Elem(), path+"[]", parameters, seen)
		}
	case *types.Basic:
		switch {
		case u.Kind() == types.UnsafePointer:
			return path, "an unsafe.Pointer"
		case u.Info()&types.IsString != 0:
			return path, "a string"
		}
	case *types.Slice:
		return path, "a slice"
	case *types.Map:
		return path, "a map"
	case *types.Chan:
		return path, "a channel"
	case *types.Signature:
		return path, "a function"
	case *types.Interface:
		return path, "an interface"
	case *types.Pointer:
		return path, "a pointer"
	}
	return "", ""
}

// remedy says what to store in place of a Go pointer.
func remedy(kind string) string {
	switch kind {
	case "a string":
		return "the text in a Go slice and its index here, or use an array of bytes of a fixed size"
	case "a slice", "a map":
		return "it on the Go heap and its index or key here, or use an array of a fixed size"
	case "a pointer", "an unsafe.Pointer":
		return "an index or a handle to the target instead"
	}
	return "it on the Go heap and its index here"
}

// stores reports Go pointers that are stored through unsafe, or as a uintptr.
func (f *finder) stores() {
	for n := range f.Inspector.PreorderSeq((*ast.AssignStmt)(nil), (*ast.CallExpr)(nil)) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN && len(n.Lhs) == len(n.Rhs) {
				for i, to := range n.Lhs {
					f.store(to, n.Rhs[i])
				}
			} else if n.Tok == token.ADD_ASSIGN {
				f.join(n)
			}
		case *ast.CallExpr:
			if of, last := lib.Split(lib.Callee(f.TypesInfo, n)); of != "" && strings.Contains(putters, " "+last+" ") {
				for _, arg := range n.Args {
					f.numbers(arg, types.ExprString(n.Fun))
				}
			}
		}
	}
}

// putters are the methods and functions that put values into memory outside of Go's heap.
const putters = " Add AddAll AddLater Append AppendSlice Insert Set SetAll SetLater Update "
