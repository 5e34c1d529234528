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

// report reports the bad uses in a statement or expression.
func (f *function) report(n ast.Node, s *state) {
	if len(s.closed) == 0 && len(s.bad) == 0 {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BinaryExpr:
			// A comparison of addresses does not use their targets.
			if n.Op == token.EQL || n.Op == token.NEQ {
				f.reportParts(n.X, s)
				f.reportParts(n.Y, s)
				return false
			}
		case *ast.CallExpr:
			f.reportCall(n, s)
			addresses, nothing := f.usedBy(n)
			if nothing {
				return false
			}
			if addresses {
				for _, x := range append(n.Args, n.Fun) {
					f.reportParts(x, s)
				}
				return false
			}
		case *ast.IndexExpr:
			if t := f.p.TypesInfo.TypeOf(n.X); t != nil {
				if _, ok := t.Underlying().(*types.Map); ok {
					f.report(n.X, s)
					f.reportParts(n.Index, s)
					return false
				}
			}
		case *ast.Ident, *ast.SelectorExpr:
			p, ok := f.place(n.(ast.Expr))
			if !ok {
				return true
			}
			q := f.outermostBad(p, s)
			if q == p && f.isAddress(n.(ast.Expr)) {
				return false
			}
			if s.bad[q] != "" {
				f.sayBad(n, q, s)
				return false
			}
		}
		return true
	})
}

// reportParts is like report, but allows x itself to be bad, because the program uses only the address of x.
func (f *function) reportParts(x ast.Expr, s *state) {
	if p, ok := f.place(x); !ok || s.bad[p] == "" {
		f.report(x, s)
	}
}

// usedBy examines what a call uses. addresses reports whether the call uses only the addresses of its
// arguments. nothing reports whether the call touches no memory, like len.
func (f *function) usedBy(call *ast.CallExpr) (addresses, nothing bool) {
	t := f.p.TypesInfo.Types[call.Fun]
	switch {
	case t.IsType():
		basic, ok := t.Type.Underlying().(*types.Basic)
		return ok && (basic.Kind() == types.UnsafePointer || basic.Kind() == types.Uintptr), false
	case t.IsBuiltin():
		name := typeutil.Callee(f.p.TypesInfo, call).Name()
		return name == "delete" || name == "SliceData" || name == "StringData",
			in([]string{"len", "cap", "Sizeof", "Offsetof", "Alignof"}, name)
	}
	callee, ok := typeutil.Callee(f.p.TypesInfo, call).(*types.Func)
	if ok && callee.Pkg() != nil && callee.Pkg().Path() == "fmt" {
		return slices.ContainsFunc(call.Args, func(x ast.Expr) bool {
			v := f.p.TypesInfo.Types[x].Value
			return v != nil && v.Kind() == constant.String && strings.Contains(constant.StringVal(v), "%p")
		}), false
	}
	return false, false
}

func (f *function) sayBad(n ast.Node, p place, s *state) {
	f.p.Say(n, "%s is used after %s: its memory is gone; before that call, copy the values that you need "+
		"later", p, s.bad[p])
}

// isAddress reports whether an expression is an unsafe.Pointer. A program may print and compare this address
// after the memory is gone.
func (f *function) isAddress(e ast.Expr) bool {
	return f.p.TypesInfo.TypeOf(e).Underlying() == types.Typ[types.UnsafePointer]
}

// reportCall reports a call that uses a closed container, converts the address of bad memory to a pointer,
// frees memory twice, or releases a mark that is no longer valid.
func (f *function) reportCall(call *ast.CallExpr, s *state) {
	name := lib.Callee(f.p.TypesInfo, call)
	of, last := lib.Split(name)
	if t := f.p.TypesInfo.Types[call.Fun]; len(call.Args) > 0 &&
		(t.IsType() && pointer(t.Type) || in(frees, name)) {
		x := ast.Unparen(call.Args[len(call.Args)-1])
		conversion, ok := x.(*ast.CallExpr)
		if ok && f.p.TypesInfo.Types[conversion.Fun].IsType() && f.isAddress(conversion) {
			x = conversion.Args[0]
		}
		if p, found := f.place(x); found && s.bad[p] != "" && (ok || f.isAddress(x)) {
			f.sayBad(call, p, s)
		}
	}
	if in(needsOpen[of], last) || in(uses, name) {
		if p, ok := f.owner(call); ok && s.closed[p] != "" {
			f.p.Say(call, "%s is used after %s: %s panics then; call %s after the last use", p, s.closed[p],
				last, s.closed[p])
		}
	}
	if owner, ok := f.owner(call); ok && name == "arena.Arena.Release" && s.closed[owner] == "" {
		if m, ok := f.place(call.Args[0]); ok && s.closed[m] != "" {
			f.p.Say(call, "the mark %s is released after %s: release a mark only once, and not after Reset",
				m, s.closed[m])
		}
	}
}
