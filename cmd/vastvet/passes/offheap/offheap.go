// Package offheap finds Go pointers that are stored outside of Go's heap, where the garbage collector does
// not see them.
package offheap

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/cfg"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/flow"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds element types with Go pointers, and Go pointers stored through unsafe.
var Analyzer = check.New("offheap", `find Go pointers stored outside of Go's heap

The garbage collector does not scan columns, containers and arenas. It may free the target of a Go pointer in
such memory while the program still uses the target. The library therefore panics if a program makes a
container for a type with Go pointers. This analyzer finds such types before the program runs, including types
that a generic function of the program passes to the library as type arguments. The analyzer also finds Go
pointers that are stored through package unsafe or as a uintptr, if nothing else keeps their target alive.
Pointers to memory off the heap and to package-level variables are allowed. Finally, the analyzer finds
resources whose type is a pointer or an interface. SetResource panics for such types, because a resource is
stored by value.

	type Ship struct{ Name string }

	ships := vast.NewColumn[Ship](w)     // wrong: panics
	ships := vast.NewHeapColumn[Ship](w) // right

	*(**Crew)(unsafe.Pointer(seat.Get(e))) = new(Crew) // wrong
	seat.Set(e, Seat{Crew: handle})                    // right

	vast.SetResource(w, &Clock{})         // wrong: panics
	clock := vast.SetResource(w, Clock{}) // right`, run, new(plain))

// plain is the fact that some type parameters of a function must not contain Go pointers.
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

// checks is the path of the package whose Check and CheckOr reject types with Go pointers.
const checks = lib.Module + "/internal/layout"

type finder struct {
	*check.Pass
	own    map[*types.Func]*plain
	graphs map[*ast.FuncDecl]*cfg.CFG
	values *trace.Values
	uses   map[*types.Var][]inspector.Cursor
}

// need returns the indexes of a function's type parameters that must not contain Go pointers.
func (f *finder) need(fn *types.Func) []int {
	fn = fn.Origin()
	if fn.Pkg() != nil && fn.Pkg().Path() == checks &&
		(fn.Name() == "Check" || fn.Name() == "CheckOr") {
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

// infer finds the functions of the package that pass a type parameter to a function whose type argument must
// not contain Go pointers. A function that calls recover does not count, because it may expect the panic. A
// call under a condition counts only in a package that imports internal/layout (see finder.checking).
// Elsewhere the call does not count, because the condition may depend on the type.
func (f *finder) infer() {
	var generic []*ast.FuncDecl
	for _, file := range f.Files {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil && f.parameters(d).Len() > 0 &&
				!f.recovers(d) {
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

// arguments returns the function that an identifier refers to, and the type arguments of the function or of
// its receiver.
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

// needed returns the indexes of a function's type parameters that must not contain Go pointers because of a
// call in the function's body.
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

// checking reports whether a function belongs to a package that imports internal/layout, and not to a test.
// In such a package, a call under a condition counts too, because the condition only skips a repeated check.
func (f *finder) checking(d *ast.FuncDecl) bool {
	return !f.InTest(d) && slices.ContainsFunc(f.Pkg.Imports(), func(pkg *types.Package) bool {
		return pkg.Path() == checks
	})
}

// always reports whether every call of a function makes the given call.
func (f *finder) always(d *ast.FuncDecl, call *ast.CallExpr) bool {
	g := f.graphs[d]
	if g == nil {
		g = flow.Graph(f.TypesInfo, d.Body)
		f.graphs[d] = g
	}
	b, _ := flow.Find(g, call)
	return b != nil && flow.Always(g, b)
}

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

// columns are the functions whose column could be a HeapColumn instead.
var columns = []string{"NewColumn", "NewSparseColumn"}

// instance reports a use of a function with a type argument that contains a Go pointer but must not. It also
// reports the wrong types of resources (see finder.resource).
func (f *finder) instance(id *ast.Ident) {
	fn, arguments := f.arguments(id)
	if arguments.Len() == 0 || f.Provoked(id) {
		return
	}
	f.resource(id, fn, arguments.At(0))
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
			f.Say(id, "%s panics: %s is %s, and memory outside Go's heap must not hold Go pointers; "+
				"keep %s%s",
				called, path, kind, remedy(kind), other)
			return
		}
	}
}

func name(t types.Type) string {
	return types.TypeString(t, func(*types.Package) string { return "" })
}

// pointer returns the path to the first Go pointer in a value of type t, and the kind of the pointer, or
// empty strings. path is the path to the value. pointer adds type parameters in t to parameters.
func pointer(t types.Type, path string, parameters map[*types.TypeParam]bool) (at, kind string) {
	return inner(t, path, parameters, map[types.Type]bool{})
}

// inner is the recursive part of pointer. seen holds the types that inner has examined. Without seen, types
// that contain other types twice take exponential time.
func inner(t types.Type, path string, parameters map[*types.TypeParam]bool,
	seen map[types.Type]bool) (at, kind string) {
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
			if of, last := lib.Split(lib.Callee(f.TypesInfo, n)); of != "" && slices.Contains(putters, last) {
				for _, arg := range n.Args {
					f.numbers(arg, types.ExprString(n.Fun))
				}
			}
		}
	}
}

// putters are the methods and functions that store values outside of Go's heap.
var putters = []string{"Add", "AddAll", "AddLater", "Append", "AppendSlice", "Insert", "Set", "SetAll",
	"SetLater", "Update"}
