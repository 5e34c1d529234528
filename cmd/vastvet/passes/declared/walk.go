package declared

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// enter examines a function that runs when the system runs. depth limits the nested calls that enter follows.
func (s *system) enter(function ast.Expr, depth int) {
	if depth == 0 {
		return
	}
	var id *ast.Ident
	switch f := ast.Unparen(function).(type) {
	case *ast.FuncLit:
		s.walk(f.Body, depth)
		return
	case *ast.CallExpr:
		if lib.Callee(s.TypesInfo, f) == "sched.Not" {
			s.enter(f.Args[0], depth)
		} else if d := s.callee(f); d != nil {
			s.give(d, f, depth)
			s.enterReturned(d, depth-1)
		}
		return
	case *ast.IndexExpr:
		s.enter(f.X, depth) // f.X may be a generic function
		return
	case *ast.IndexListExpr:
		s.enter(f.X, depth)
		return
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return
	}
	switch x := s.TypesInfo.Uses[id].(type) {
	case *types.Func:
		if d := s.functions[x.Origin()]; d != nil {
			s.walk(d.Body, depth-1)
		}
	case *types.Var:
		s.called[x] = true
		for _, f := range s.given[x] {
			s.enter(f, depth-1)
		}
		if source := s.values.Only(function); source.Range == nil && source.Result == 0 {
			s.enter(source.Expr, depth-1)
		}
	}
}

// enterReturned examines the function values that a function returns.
func (s *system) enterReturned(d *ast.FuncDecl, depth int) {
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			for _, result := range n.Results {
				s.enter(result, depth)
			}
		}
		return true
	})
}

// callee returns the declaration of the called function if the function belongs to the package, or nil.
func (l *look) callee(call *ast.CallExpr) *ast.FuncDecl {
	if f, ok := typeutil.Callee(l.TypesInfo, call).(*types.Func); ok {
		return l.functions[f.Origin()]
	}
	return nil
}

// give records the functions that a call passes to a function of the package. The passed functions run where
// that function calls its parameters.
func (s *system) give(d *ast.FuncDecl, call *ast.CallExpr, depth int) {
	for i, argument := range call.Args {
		if x := parameter(s.TypesInfo, d, i); x != nil && isFunc(x.Type()) {
			s.given[x] = append(s.given[x], argument)
			if s.called[x] {
				s.enter(argument, depth-1)
			}
		}
	}
}

func isFunc(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// callsBack reports whether the called function calls its function arguments only before it returns. All
// functions of the packages slices and sort count as such functions. Other functions may keep the arguments
// until after the system has run.
func (s *system) callsBack(call *ast.CallExpr) bool {
	switch lib.Callee(s.TypesInfo, call) {
	case "sched.Context.Each", "sched.Context.Split", "sched.Reduce":
		return true
	}
	f, ok := typeutil.Callee(s.TypesInfo, call).(*types.Func)
	return ok && f.Pkg() != nil && (f.Pkg().Path() == "slices" || f.Pkg().Path() == "sort")
}

// walk examines a body and the functions that it calls.
func (s *system) walk(body *ast.BlockStmt, depth int) {
	if depth == 0 || s.seen[body] {
		return
	}
	s.seen[body] = true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // enter examines the literal if it is called
		case *ast.CallExpr:
			s.call(n)
			if d := s.callee(n); d != nil {
				s.give(d, n, depth)
			} else if s.callsBack(n) {
				for _, argument := range n.Args {
					if isFunc(s.TypesInfo.TypeOf(argument)) {
						s.enter(argument, depth)
					}
				}
			}
			s.enter(n.Fun, depth)
		case *ast.RangeStmt:
			if isFunc(s.TypesInfo.TypeOf(n.X)) {
				s.enter(n.X, depth)
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, to := range n.Lhs {
					s.writeThrough(to)
				}
			}
		case *ast.IncDecStmt:
			s.writeThrough(n.X)
		}
		return true
	})
}

// access has the methods that access the values of a column, and for each method whether it writes.
var access = map[string]bool{
	"All": false, "At": false, "Disable": true, "DisableAt": true, "DisableRun": true,
	"Edit": true, "EditAt": true, "EditRun": true,
	"Enable": true, "EnableAt": true, "EnableRun": true, "Get": false, "Set": true,
	"SetAll": true, "Slice": false, "TryAt": false, "TrySlice": false,
}

// columns are the column types that a system must declare.
var columns = map[string]bool{"vast.Column": true, "vast.Disabled": true, "vast.HeapColumn": true,
	"vast.SparseColumn": true}

func (s *system) call(call *ast.CallExpr) {
	name := lib.Callee(s.TypesInfo, call)
	if name == "vast.Query.Changed" || name == "vast.Tracker.Changed" {
		if len(call.Args) > 0 && columns[lib.TypeName(s.TypesInfo.TypeOf(call.Args[0]))] {
			s.touch(call, call.Args[0], false)
		}
		return
	}
	of, last := lib.Split(name)
	if write, ok := access[last]; ok && columns[of] {
		s.touch(call, lib.Receiver(call), write)
		return
	}
	if of == "event.Queue" || of == "sched.Jobs" {
		s.queue(call, last)
		return
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if ok && s.TypesInfo.Types[call.Fun].IsBuiltin() && len(call.Args) > 0 {
		if id.Name == "copy" || id.Name == "clear" {
			s.writeTo(call, call.Args[0])
		}
	}
}

// writeThrough records the column that an assignment writes through a pointer or a slice.
func (s *system) writeThrough(to ast.Expr) {
	if base := trace.Base(s.TypesInfo, to); base != nil {
		s.writeTo(to, base)
	}
}

// writeTo records a write to the column that a pointer or a slice comes from.
func (s *system) writeTo(at ast.Node, pointer ast.Expr) {
	source := s.values.Only(pointer)
	if source.Range != nil && !s.yieldsPointers(source.Expr) {
		return
	}
	switch x := ast.Unparen(source.Expr).(type) {
	case *ast.CallExpr:
		of, last := lib.Split(lib.Callee(s.TypesInfo, x))
		if write, ok := access[last]; ok && !write && columns[of] {
			s.touch(at, lib.Receiver(x), true)
		}
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			s.writeThrough(x.X)
		}
	case *ast.SliceExpr:
		s.writeTo(at, x.X)
	}
}

// yieldsPointers reports whether an expression calls SparseColumn.All, which yields pointers to the column's
// values.
func (s *system) yieldsPointers(over ast.Expr) bool {
	call, ok := ast.Unparen(over).(*ast.CallExpr)
	return ok && lib.Callee(s.TypesInfo, call) == "vast.SparseColumn.All"
}

// touch records an access to a column, if the access is undeclared.
func (s *system) touch(at ast.Node, column ast.Expr, write bool) {
	if !columns[lib.TypeName(s.TypesInfo.TypeOf(column))] {
		return // the type embeds a column
	}
	key := s.key(column)
	if x, ok := key.(*types.Var); key == nil || ok && s.values.Parameter(x) && !s.around(x) {
		return
	}
	if s.declares(s.writes, column, key) || !write && s.declares(s.reads, column, key) ||
		!s.ofSameWorld(column) {
		return
	}
	if slices.ContainsFunc(s.found, func(f finding) bool { return f.key == key && (f.write || !write) }) {
		return
	}
	// A finding of a write replaces a finding of a read, because Writes also allows reads.
	s.found = slices.DeleteFunc(s.found, func(f finding) bool { return f.key == key })
	s.found = append(s.found, finding{at, column, key, write, write && s.declares(s.reads, column, key)})
}
