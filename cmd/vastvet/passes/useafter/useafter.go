// Package useafter finds what is used in a function after the same function has ended its use.
package useafter

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/cfg"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/flow"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds uses after Close, Release, Reset, Truncate and Free.
var Analyzer = check.New("useafter", `find uses after Close, Release, Reset, Truncate or Free

Close gives memory back to the system: a container that is used afterwards panics, and a pointer or a slice that it
handed out before leads to nothing, or to what was put there since. The same holds for what was allocated in an arena
before Reset, or between a Mark and its Release; for elements cut off by Truncate(0); and for what was freed.

	first := ships.At(0)
	ships.Close()
	return first.Fuel // wrong

	fuel := ships.At(0).Fuel
	ships.Close()
	return fuel // right

What ends on one way through the function only is not reported where the ways have met again, and neither is what ends in a
deferred call.`, run)

func run(p *check.Pass) {
	var values *trace.Values
	rewritten := map[*types.Var]bool{}
	p.Functions(func(node ast.Node, _ *ast.FuncType, body *ast.BlockStmt) {
		if !mayEnd(p.TypesInfo, body) {
			return
		}
		if values == nil {
			values = trace.New(p.TypesInfo, p.Inspector)
			for n := range p.Inspector.PreorderSeq((*ast.AssignStmt)(nil), (*ast.RangeStmt)(nil)) {
				assigned(p.TypesInfo, n, rewritten)
			}
		}
		f := &function{p: p, node: node, values: values, rewritten: rewritten, shared: map[*types.Var]bool{},
			written: map[ast.Node]bool{}, shown: map[ast.Node]bool{}, dropped: map[ast.Expr]bool{}}
		f.look(body)
	})
}

// assigned adds the variables declared elsewhere that a statement gives values.
func assigned(info *types.Info, n ast.Node, to map[*types.Var]bool) {
	var targets []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		targets = n.Lhs
	case *ast.RangeStmt:
		targets = []ast.Expr{n.Key, n.Value}
	}
	for _, e := range targets {
		if id, ok := e.(*ast.Ident); ok {
			if x, ok := info.Uses[id].(*types.Var); ok {
				to[x] = true
			}
		}
	}
}

// mayEnd reports whether a function ends the use of something.
func mayEnd(info *types.Info, body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !found {
			name := lib.Callee(info, call)
			_, last := lib.Split(name)
			found = name != "" && (last == "Close" || last == "Release" || in(ends, name) || in(truncates, name) ||
				in(frees, name) || in(removes, name) || in(unsure, name))
		}
		return !found
	})
	return found
}

// function is one that is looked at.
type function struct {
	p         *check.Pass
	node      ast.Node
	values    *trace.Values
	rewritten map[*types.Var]bool // the variables of the package that get values behind their declaration
	shared    map[*types.Var]bool // variables that a function literal in the function gives values
	written   map[ast.Node]bool   // what range and select statements write, where it stands in these
	shown     map[ast.Node]bool   // what switch statements compare
	dropped   map[ast.Expr]bool   // the calls whose error nobody looks at
	say       bool                // whether what is found is reported, in the last pass
}

// look goes over a function until no more is learned, and then once more to report.
func (f *function) look(body *ast.BlockStmt) {
	f.prepare(body)
	g := flow.Graph(f.p.TypesInfo, body)
	before := make([]*state, len(g.Blocks))
	before[0] = newState()
	for work := []*cfg.Block{g.Blocks[0]}; len(work) > 0; {
		b := work[0]
		work = work[1:]
		after := before[b.Index].clone()
		f.block(b, after)
		for i, next := range b.Succs {
			after := f.edge(b, i == 0, after)
			switch known := before[next.Index]; {
			case known == nil && i == len(b.Succs)-1:
				before[next.Index] = after
			case known == nil:
				before[next.Index] = after.clone()
			case !known.meet(after):
				continue
			}
			work = append(work, next)
		}
	}
	f.say = true
	for _, b := range g.Blocks {
		if s := before[b.Index]; s != nil {
			f.block(b, s)
		}
	}
}

// prepare finds what has to be known of a function before its blocks are gone through.
func (f *function) prepare(body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			f.written[n.Key], f.written[n.Value] = true, true
		case *ast.CommClause:
			if a, ok := n.Comm.(*ast.AssignStmt); ok {
				f.written[a.Lhs[0]] = true
			}
		case *ast.SwitchStmt:
			if n.Tag == nil {
				break
			}
			f.shown[n.Tag] = true
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					f.shown[e] = true
				}
			}
		case *ast.ExprStmt:
			f.dropped[ast.Unparen(n.X)] = true
		case *ast.AssignStmt:
			if len(n.Rhs) == 1 && len(n.Lhs) == 1 && blank(n.Lhs[0]) {
				f.dropped[ast.Unparen(n.Rhs[0])] = true
			}
		case *ast.FuncLit:
			ast.Inspect(n.Body, func(n ast.Node) bool {
				assigned(f.p.TypesInfo, n, f.shared)
				return true
			})
			return false
		}
		return true
	})
}

// edge returns what holds behind a block on one of the ways from it: where its condition holds, or where it does not.
func (f *function) edge(b *cfg.Block, holds bool, s *state) *state {
	if len(s.ends) == 0 || len(b.Succs) != 2 || len(b.Nodes) == 0 {
		return s
	}
	c, ok := b.Nodes[len(b.Nodes)-1].(*ast.BinaryExpr)
	if !ok || c.Op != token.EQL && c.Op != token.NEQ || !f.p.TypesInfo.Types[c.Y].IsNil() {
		return s
	}
	err, ok := f.place(c.X)
	e, known := s.ends[err]
	if !ok || !known {
		return s
	}
	s = s.clone()
	delete(s.ends, err)
	if holds == (c.Op == token.EQL) {
		s.settle(e)
	}
	return s
}

// block applies what a block does to a state.
func (f *function) block(b *cfg.Block, s *state) {
	switch of := b.Stmt.(type) {
	case *ast.RangeStmt:
		if !f.quiet(of.X) {
			s.forget(f.changes)
		}
		if b.Kind == cfg.KindRangeBody {
			f.write(of.Key, s)
			f.write(of.Value, s)
		}
	case *ast.CommClause:
		if b.Kind == cfg.KindSelectCaseBody {
			s.forget(f.changes)
			if a, ok := of.Comm.(*ast.AssignStmt); ok {
				for _, to := range a.Lhs {
					f.write(to, s)
				}
			}
		}
	}
	for _, n := range b.Nodes {
		if f.written[n] {
			continue
		}
		switch n := n.(type) {
		case *ast.DeferStmt, *ast.GoStmt:
			// Runs later.
		case *ast.AssignStmt:
			for _, e := range n.Rhs {
				if len(n.Lhs) == 1 && blank(n.Lhs[0]) {
					f.calls(e, s)
				} else {
					f.expr(e, s)
				}
			}
			for _, to := range n.Lhs {
				if p, ok := f.target(to); !ok || n.Tok != token.ASSIGN && n.Tok != token.DEFINE || f.bad(p, s) != p {
					f.expr(to, s)
				}
			}
			f.assign(n.Lhs, n.Rhs, s)
		case *ast.ValueSpec:
			for _, e := range n.Values {
				f.expr(e, s)
			}
			to := make([]ast.Expr, len(n.Names))
			for i, name := range n.Names {
				to[i] = name
			}
			f.assign(to, n.Values, s)
		case ast.Expr:
			if p, ok := f.place(n); !f.shown[n] || !ok || s.bad[p] == "" {
				f.expr(n, s)
			}
		default:
			f.expr(n, s)
		}
	}
}

// quiet reports whether a range statement runs nothing but its body: what it goes over is an iterator of the library, or no
// function and no channel.
func (f *function) quiet(x ast.Expr) bool {
	switch f.p.TypesInfo.TypeOf(x).Underlying().(type) {
	case *types.Chan:
		return false
	case *types.Signature:
		call, ok := ast.Unparen(x).(*ast.CallExpr)
		return ok && lib.Callee(f.p.TypesInfo, call) != ""
	}
	return true
}

func blank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// target is place for what an assignment writes. What a pointer leads to has no place of its own, unless it is a pointer.
func (f *function) target(e ast.Expr) (place, bool) {
	if _, ok := ast.Unparen(e).(*ast.StarExpr); ok && !pointer(f.p.TypesInfo.TypeOf(e)) {
		return place{}, false
	}
	return f.place(e)
}

// bad returns the bad place that a place is or lies in, else the place itself.
func (f *function) bad(p place, s *state) place {
	found := p
	for q := range s.bad {
		if p.below(q) && len(q.path) < len(found.path) {
			found = q
		}
	}
	return found
}

// write forgets what was known of what an expression names, and of what others may name and is the same.
func (f *function) write(e ast.Expr, s *state) {
	if e == nil || blank(e) {
		return
	}
	e = ast.Unparen(e)
	_, variable := e.(*ast.Ident)
	if p, ok := f.target(e); ok {
		s.assign(p)
		if variable {
			return
		}
	} else if p, ok = f.place(e); ok {
		s.overwrite(p)
	}
	names := map[string]bool{"*": true}
	if selector, ok := e.(*ast.SelectorExpr); ok {
		names[selector.Sel.Name] = true
	}
	if t := f.p.TypesInfo.TypeOf(e); t != nil { // else it stands for the variables of a type switch
		fields(t, names, map[types.Type]bool{})
	}
	s.forget(func(p place) bool { return p.through(names) })
}

// assign notes that variables get values.
func (f *function) assign(to, values []ast.Expr, s *state) {
	origins := make([]*origin, len(to))
	for i := range to {
		switch {
		case len(values) == len(to):
			origins[i] = f.origin(values[i], 0, s)
		case len(values) == 1:
			origins[i] = f.origin(values[0], i, s)
		}
	}
	for _, e := range to {
		f.write(e, s)
	}
	for i, e := range to {
		p, ok := f.target(e)
		o := origins[i]
		if !ok || o == nil || o.owner.below(p) {
			continue
		}
		if o.by == mark {
			s.remark(o.at)
		}
		if r := from[o.by]; r.number == 1 && len(to) == 2 && i == 1 {
			o.key, _ = f.place(to[0])
		}
		if o.key.below(p) {
			o.key = place{}
		}
		s.from[p] = *o
	}
	if len(values) == 1 {
		f.unsure(to, values[0], s)
	}
}

// unsure notes what ends by a call if the error that it returns is nil.
func (f *function) unsure(to []ast.Expr, value ast.Expr, s *state) {
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok {
		return
	}
	name := lib.Callee(f.p.TypesInfo, call)
	err, ok := f.place(to[len(to)-1])
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
	for _, e := range to {
		if p, known := f.target(e); known && end.of.below(p) {
			return
		}
	}
	if ok {
		s.ends[err] = end
	}
}

// origin returns where a value was handed out, if that is known. number is which of a call's results it is.
func (f *function) origin(e ast.Expr, number int, s *state) *origin {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		name := lib.Callee(f.p.TypesInfo, e)
		r, ok := from[name]
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
			if o, ok := s.from[p]; ok && !o.part {
				return &o
			}
		}
	}
	return nil
}

// marks returns where the marks of an owner were set that are good at a call.
func (f *function) marks(call *ast.CallExpr, owner place, s *state) string {
	var at []token.Pos
	for p, o := range s.from {
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

// expr reports the bad uses in a statement or expression, and then applies its calls.
func (f *function) expr(n ast.Node, s *state) {
	if f.say {
		f.report(n, s)
	}
	f.calls(n, s)
}

// calls applies what the calls in a statement or expression do, and what others may do while it waits for them.
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
			if lib.Callee(f.p.TypesInfo, n) == "vast.World.Close" {
				s.forget(f.changes) // by hooks, which run before it is closed
			}
			f.call(n, s)
			if !f.harmless(n) {
				s.forget(f.changes)
			}
		}
		return true
	})
}

// call applies what a call does.
func (f *function) call(call *ast.CallExpr, s *state) {
	name := lib.Callee(f.p.TypesInfo, call)
	of, last := lib.Split(name)
	all := func(origin) bool { return true }
	switch {
	case in(unsure, name) && !f.dropped[call]:
		// Whether it ends is known where its error is looked at.
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
		if set := s.from[m]; ok && known && set.owner == p && set.by == mark && s.closed[m] == "" {
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

// remove applies a call that takes one element, list or entity out.
func (f *function) remove(call *ast.CallExpr, name string, s *state) {
	owner, ok := f.owner(call)
	key, known := f.place(call.Args[0])
	entity := name == "vast.World.Delete"
	// A relation may refuse to delete an entity: whoever asks whether it did may go on.
	if !ok || !known || entity && !f.dropped[call] {
		return
	}
	for p, o := range s.from {
		if entity {
			o.owner = s.from[o.owner].owner // of the column
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

// harmless reports whether a call changes no variables that the function shares: it is one of Vast's that calls nothing back
// and waits for nobody, a conversion, or one of the language's own functions.
func (f *function) harmless(call *ast.CallExpr) bool {
	if t := f.p.TypesInfo.Types[call.Fun]; t.IsType() || t.IsBuiltin() {
		return true
	}
	name := lib.Callee(f.p.TypesInfo, call)
	if name == "" || typeutil.Callee(f.p.TypesInfo, call).Pkg() == f.p.Pkg {
		return false
	}
	of, last := lib.Split(name)
	if pkg, _, _ := strings.Cut(of, "."); (pkg == "vast" || pkg == "sched" || pkg == "ring") && in(callbacks, last) {
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
			// To compare addresses is no use of what they lead to.
			if n.Op == token.EQL || n.Op == token.NEQ {
				f.reportUnlessShown(n.X, s)
				f.reportUnlessShown(n.Y, s)
				return false
			}
		case *ast.CallExpr:
			f.reportCall(n, s)
			shows, all := f.shows(n)
			if all {
				return false
			}
			if shows {
				for _, x := range append(n.Args, n.Fun) {
					f.reportUnlessShown(x, s)
				}
				return false
			}
		case *ast.IndexExpr:
			if t := f.p.TypesInfo.TypeOf(n.X); t != nil {
				if _, ok := t.Underlying().(*types.Map); ok {
					f.report(n.X, s)
					f.reportUnlessShown(n.Index, s)
					return false
				}
			}
		case *ast.Ident, *ast.SelectorExpr:
			p, ok := f.place(n.(ast.Expr))
			if !ok {
				return true
			}
			q := f.bad(p, s)
			if q == p && f.address(n.(ast.Expr)) {
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

// reportUnlessShown is report for what is needed as an address only, and not for what it leads to.
func (f *function) reportUnlessShown(x ast.Expr, s *state) {
	if p, ok := f.place(x); !ok || s.bad[p] == "" {
		f.report(x, s)
	}
}

// shows reports whether a call needs of a pointer among its arguments the address only, or nothing of all of them.
func (f *function) shows(call *ast.CallExpr) (addresses, nothing bool) {
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
	if callee, ok := typeutil.Callee(f.p.TypesInfo, call).(*types.Func); ok && callee.Pkg() != nil && callee.Pkg().Path() == "fmt" {
		return slices.ContainsFunc(call.Args, func(x ast.Expr) bool {
			v := f.p.TypesInfo.Types[x].Value
			return v != nil && v.Kind() == constant.String && strings.Contains(constant.StringVal(v), "%p")
		}), false
	}
	return false, false
}

func (f *function) sayBad(n ast.Node, p place, s *state) {
	f.p.Say(n, "%s is used after %s: what it leads to is gone; take what you need from it before", p, s.bad[p])
}

// address reports whether an expression is an address only, which can be shown and compared when nothing is there any more.
func (f *function) address(e ast.Expr) bool {
	return f.p.TypesInfo.TypeOf(e).Underlying() == types.Typ[types.UnsafePointer]
}

// reportCall reports a call that needs open what is closed, makes a pointer of an address where nothing is any more, or frees
// twice.
func (f *function) reportCall(call *ast.CallExpr, s *state) {
	name := lib.Callee(f.p.TypesInfo, call)
	of, last := lib.Split(name)
	if t := f.p.TypesInfo.Types[call.Fun]; len(call.Args) > 0 && (t.IsType() && pointer(t.Type) || in(frees, name)) {
		x := ast.Unparen(call.Args[len(call.Args)-1])
		conversion, ok := x.(*ast.CallExpr)
		if ok && f.p.TypesInfo.Types[conversion.Fun].IsType() && f.address(conversion) {
			x = conversion.Args[0]
		}
		if p, found := f.place(x); found && s.bad[p] != "" && (ok || f.address(x)) {
			f.sayBad(call, p, s)
		}
	}
	if in(needsOpen[of], last) || in(uses, name) {
		if p, ok := f.owner(call); ok && s.closed[p] != "" {
			f.p.Say(call, "%s is used after %s: %s panics then; end its use when nothing needs it any more", p, s.closed[p], last)
		}
	}
	if owner, ok := f.owner(call); ok && name == "arena.Arena.Release" && s.closed[owner] == "" {
		if m, ok := f.place(call.Args[0]); ok && s.closed[m] != "" {
			f.p.Say(call, "the mark %s is released after %s: a mark is good for one release, and for none after Reset", m,
				s.closed[m])
		}
	}
}
