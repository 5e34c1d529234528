package queryloop

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// world tells worlds apart: where one comes from, and, where it lies in a struct, in which.
type world struct {
	from  any // the variable that it was given in, or the call that made it
	in    *types.Var
	field string
}

// worldOf returns the world that a value belongs to: a world, or what was made of one. The zero world is not known.
func worldOf(values *trace.Values, e ast.Expr) world {
	return follow(values, e, 16)
}

func follow(values *trace.Values, e ast.Expr, steps int) world {
	if e == nil || steps == 0 {
		return world{}
	}
	// A field's value is known from where the struct was made; which struct it is this place says.
	var in *types.Var
	var field string
	if s, ok := ast.Unparen(e).(*ast.SelectorExpr); ok {
		if path, root := trace.Path(values.Info, s.X); root != nil {
			in, field = root, path
		}
	}
	source := values.Only(e)
	w := world{}
	if call, ok := ast.Unparen(source.Expr).(*ast.CallExpr); ok && source.Range == nil {
		w = made(values, call, steps-1)
	} else if x := values.Var(source.Expr); x != nil && source.Range == nil {
		w = world{from: x}
		if s, ok := ast.Unparen(source.Expr).(*ast.SelectorExpr); ok && in == nil {
			if path, root := trace.Path(values.Info, s.X); root != nil {
				in, field = root, path
			}
		}
	}
	if w.from != nil && in != nil {
		w.in, w.field = in, field
	}
	return w
}

// made returns the world that the result of a call belongs to.
func made(values *trace.Values, call *ast.CallExpr, steps int) world {
	name := lib.Callee(values.Info, call)
	of, last := lib.Split(name)
	switch {
	case name == "vast.NewWorld":
		return world{from: call}
	case name == "sched.Context.World":
		return world{from: name}
	case of == "vast" && strings.HasPrefix(last, "New") && len(call.Args) > 0:
		return follow(values, call.Args[0], steps)
	case strings.HasPrefix(of, "vast."):
		return follow(values, lib.Receiver(call), steps)
	}
	return world{}
}
