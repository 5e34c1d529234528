package useafter

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// unsure records that a call closes or frees something only if its error is nil. value is the call, and
// targets lists the variables that get the results.
func (f *function) unsure(targets []ast.Expr, value ast.Expr, s *state) {
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok {
		return
	}
	name := lib.Callee(f.p.TypesInfo, call)
	err, ok := f.place(targets[len(targets)-1])
	if !ok || !in(unsure, name) {
		return
	}
	end := ending{why: types.ExprString(call)}
	switch name {
	case "heap.Resize":
		end.of, ok = f.place(call.Args[1])
		end.freed = true
	case "heap.Heap.Realloc":
		end.of, ok = f.place(call.Args[0])
		end.freed = true
	default:
		end.of, ok = f.owner(call)
		end.why = types.ExprString(call.Fun)
	}
	for _, e := range targets {
		if p, known := f.target(e); known && end.of.below(p) {
			return
		}
	}
	if ok {
		s.ends[err] = end
	}
}

// origin returns the origin of a value, or nil if the origin is unknown. If e is a call, number is the index
// of the value among the results.
func (f *function) origin(e ast.Expr, number int, s *state) *origin {
	switch e := lib.Unnamed(f.p.TypesInfo, e).(type) {
	case *ast.CallExpr:
		name := lib.Callee(f.p.TypesInfo, e)
		r, ok := returned[name]
		if !ok || r.number != number {
			return nil
		}
		owner, ok := f.owner(e)
		if !ok {
			return nil
		}
		o := &origin{owner: owner, part: r.part, by: name, marks: f.marks(e, owner, s)}
		if name == mark {
			o.at = e.Pos()
		}
		if of, _ := lib.Split(name); in(keyed, of) && r.number == 0 && len(e.Args) > 0 {
			o.key, _ = f.place(e.Args[0])
		}
		return o
	case *ast.SliceExpr:
		return f.origin(e.X, 0, s)
	case *ast.UnaryExpr:
		if x, ok := ast.Unparen(e.X).(*ast.IndexExpr); ok && e.Op == token.AND {
			return f.origin(x.X, 0, s)
		}
	case *ast.Ident, *ast.SelectorExpr:
		if p, ok := f.place(e); ok {
			if o, ok := s.origins[p]; ok && !o.part {
				return &o
			}
		}
	}
	return nil
}

// marks returns the marks that are valid at a call. owner is the arena of the marks. The result has the form
// of origin.marks.
func (f *function) marks(call *ast.CallExpr, owner place, s *state) string {
	var at []token.Pos
	for p, o := range s.origins {
		if o.owner == owner && o.by == mark && o.at != call.Pos() && s.closed[p] == "" {
			at = append(at, o.at)
		}
	}
	slices.Sort(at)
	text := ""
	for _, at := range slices.Compact(at) {
		text += comma(at)
	}
	return text
}

// calls applies the effects of the calls in a statement or expression. If the code waits for another
// goroutine or makes a call that is not harmless, the state forgets the facts that other code may change
// meanwhile.
func (f *function) calls(n ast.Node, s *state) {
	var open []ast.Node
	ast.Inspect(n, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case nil:
		default:
			open = append(open, n)
			return true
		}
		n, open = open[len(open)-1], open[:len(open)-1]
		switch n := n.(type) {
		case *ast.SendStmt:
			s.forget(f.changes)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				s.forget(f.changes)
			}
		case *ast.CallExpr:
			if in(words("sched.Schedule.Close vast.World.Close"), lib.Callee(f.p.TypesInfo, n)) {
				s.forget(f.changes) // Close first runs hooks and End functions
			}
			f.call(n, s)
			if !f.harmless(n) {
				s.forget(f.changes)
			}
		}
		return true
	})
}

func (f *function) call(call *ast.CallExpr, s *state) {
	name := lib.Callee(f.p.TypesInfo, call)
	of, last := lib.Split(name)
	all := func(origin) bool { return true }
	switch {
	case in(unsure, name) && !f.dropped[call]:
		// The method edge applies the effect at the branch that tests the error.
	case last == "Close" && (needsOpen[of] != nil || in(closes, of)):
		if p, ok := f.owner(call); ok {
			s.close(p, types.ExprString(call.Fun))
		}
	case in(ends, name):
		if name == "ring.Ring.Commit" {
			all = func(o origin) bool { return o.by == "ring.Ring.Reserve" }
		}
		if p, ok := f.owner(call); ok {
			s.empty(p, types.ExprString(call.Fun), all)
		}
	case in(truncates, name) && len(call.Args) == 1 && f.zero(call.Args[0]):
		if p, ok := f.owner(call); ok {
			s.empty(p, types.ExprString(call), all)
		}
	case name == "arena.Arena.Release" && len(call.Args) == 1:
		p, ok := f.owner(call)
		m, known := f.place(call.Args[0])
		if set := s.origins[m]; ok && known && set.owner == p && set.by == mark && s.closed[m] == "" {
			s.empty(p, types.ExprString(call), func(o origin) bool { return o.behind(set.at) })
			s.closed[m] = types.ExprString(call)
		}
	case in(frees, name) && len(call.Args) > 0:
		if p, ok := f.place(call.Args[len(call.Args)-1]); ok {
			s.bad[p] = types.ExprString(call)
		}
	case in(removes, name) && len(call.Args) == 1:
		f.remove(call, name, s)
	}
}

func (f *function) remove(call *ast.CallExpr, name string, s *state) {
	owner, ok := f.owner(call)
	key, known := f.place(call.Args[0])
	entity := name == "vast.World.Delete"
	// A relation may refuse the deletion of an entity. A program that checks the result knows whether the
	// memory is still valid.
	if !ok || !known || entity && !f.dropped[call] {
		return
	}
	for p, o := range s.origins {
		if entity {
			o.owner = s.origins[o.owner].owner // the world, which owns the column
		}
		if o.owner == owner && o.key == key && !o.part {
			s.bad[p] = types.ExprString(call)
		}
	}
}

func (f *function) zero(e ast.Expr) bool {
	v := f.p.TypesInfo.Types[e].Value
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) == 0
}

// harmless reports whether a call changes no shared variables: the call is a conversion, or calls a builtin
// or a function of Vast that runs no callback and does not wait.
func (f *function) harmless(call *ast.CallExpr) bool {
	if t := f.p.TypesInfo.Types[call.Fun]; t.IsType() || t.IsBuiltin() {
		return true
	}
	name := lib.Callee(f.p.TypesInfo, call)
	if name == "" || typeutil.Callee(f.p.TypesInfo, call).Pkg() == f.p.Pkg {
		return false
	}
	if runsCallbacks(name) {
		return false
	}
	for _, x := range call.Args {
		if t, ok := f.p.TypesInfo.TypeOf(x).(*types.Tuple); ok && t.Len() > 0 {
			return false
		}
		if _, ok := f.p.TypesInfo.TypeOf(x).Underlying().(*types.Signature); ok {
			return false
		}
	}
	return true
}

func runsCallbacks(name string) bool {
	of, last := lib.Split(name)
	pkg, _, _ := strings.Cut(of, ".")
	return in(words("observe prefab probe ring sched vast"), pkg) && in(callbacks, last)
}
