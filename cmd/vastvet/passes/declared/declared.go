// Package declared finds systems that touch columns which they do not declare.
package declared

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds systems that read or write a column which is not among their Reads and Writes.
var Analyzer = check.New("declared", `find systems that touch a column which they do not declare

A schedule runs systems at once when what they declare allows it. One that touches a column which it does not declare races with those
that write it, and its results depend on timing.

	s.Add(sched.System{Name: "move", Writes: sched.Columns(pos), Run: func(c *sched.Context) {
		for run := range q.Runs() {
			p, v := pos.Slice(run), vel.Slice(run) // wrong: vel is not declared
			...

	s.Add(sched.System{Name: "move", Reads: sched.Columns(vel), Writes: sched.Columns(pos), ... // right

It looks into Run and If and into the functions of the same package that these mention, and follows columns through variables and fields
that are given a value once. What it cannot follow it takes for declared. Builds with the tag invariants check the rest when the system
runs.`, run)

func run(p *check.Pass) {
	var l *look
	for n := range p.Inspector.PreorderSeq((*ast.CompositeLit)(nil)) {
		lit := n.(*ast.CompositeLit)
		if lib.TypeName(p.TypesInfo.TypeOf(lit)) != "sched.System" {
			continue
		}
		if l == nil {
			l = &look{Pass: p, values: trace.New(p.TypesInfo, p.Inspector), functions: map[*types.Func]*ast.FuncDecl{},
				structs: map[*types.Var]*ast.StructType{}}
			l.index()
		}
		l.system(lit)
	}
}

type look struct {
	*check.Pass
	values    *trace.Values
	functions map[*types.Func]*ast.FuncDecl
	structs   map[*types.Var]*ast.StructType // of fields
}

// index notes where the functions of the package and the fields of its structs are declared.
func (l *look) index() {
	for n := range l.Inspector.PreorderSeq((*ast.FuncDecl)(nil), (*ast.StructType)(nil)) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				l.functions[l.TypesInfo.Defs[n.Name].(*types.Func)] = n
			}
		case *ast.StructType:
			for _, f := range n.Fields.List {
				for _, name := range f.Names {
					if x, ok := l.TypesInfo.Defs[name].(*types.Var); ok {
						l.structs[x] = n
					}
				}
			}
		}
	}
}

// system is one that is looked at.
type system struct {
	*look
	lit           *ast.CompositeLit
	name          string
	fields        map[string]*ast.KeyValueExpr
	reads, writes []ast.Expr
	seen          map[ast.Node]bool
	said          map[said]bool
}

// said is what was reported of a system.
type said struct {
	column any
	write  bool
}

// system looks at a literal, unless something in it is not known.
func (l *look) system(lit *ast.CompositeLit) {
	s := &system{look: l, lit: lit, fields: map[string]*ast.KeyValueExpr{}, seen: map[ast.Node]bool{}, said: map[said]bool{}}
	for _, element := range lit.Elts {
		kv, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		s.fields[kv.Key.(*ast.Ident).Name] = kv
	}
	if e := s.fields["Exclusive"]; e != nil {
		if v := l.TypesInfo.Types[e.Value].Value; v == nil || constant.BoolVal(v) {
			return
		}
	}
	var ok bool
	if s.reads, ok = s.list("Reads"); !ok {
		return
	}
	if s.writes, ok = s.list("Writes"); !ok {
		return
	}
	s.name = "the system"
	if name := s.fields["Name"]; name != nil {
		if v := l.TypesInfo.Types[name.Value].Value; v != nil {
			s.name = "system " + v.ExactString()
		}
	}
	for _, work := range []string{"Run", "If"} {
		if kv := s.fields[work]; kv != nil {
			s.walk(kv.Value, 8)
		}
	}
}

// list returns the columns that a field of the literal names; ok reports whether all are known.
func (s *system) list(field string) (columns []ast.Expr, ok bool) {
	kv := s.fields[field]
	if kv == nil || s.TypesInfo.Types[kv.Value].IsNil() {
		return nil, true
	}
	switch x := s.values.Only(kv.Value).Expr.(type) {
	case *ast.CallExpr:
		if lib.Callee(s.TypesInfo, x) != "sched.Columns" || x.Ellipsis.IsValid() {
			return nil, false
		}
		columns = x.Args
	case *ast.CompositeLit:
		columns = x.Elts
	default:
		return nil, false
	}
	for _, c := range columns {
		if t := s.TypesInfo.TypeOf(s.values.Only(c).Expr); t == nil || types.IsInterface(t) && !targets(s.TypesInfo, c) {
			return nil, false
		}
	}
	return columns, true
}

// targets reports whether a column is that of a relation's targets, which has no values.
func targets(info *types.Info, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	name := lib.Callee(info, call)
	return name == "vast.Relation.Targets" || name == "vast.Edges.Targets"
}

// walk looks at an expression or a body, and at the functions that it mentions, as many calls deep.
func (s *system) walk(n ast.Node, depth int) {
	if n == nil || s.seen[n] || depth == 0 {
		return
	}
	s.seen[n] = true
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if lib.TypeName(s.TypesInfo.TypeOf(n)) == "sched.System" {
				return false // is looked at by itself
			}
		case *ast.CallExpr:
			s.call(n)
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, to := range n.Lhs {
					s.writeThrough(to)
				}
			}
		case *ast.IncDecStmt:
			s.writeThrough(n.X)
		case *ast.Ident:
			switch x := s.TypesInfo.Uses[n].(type) {
			case *types.Func:
				if d := s.functions[x.Origin()]; d != nil {
					s.walk(d.Body, depth-1)
				}
			case *types.Var:
				// A function literal that was given a name.
				if _, ok := x.Type().Underlying().(*types.Signature); ok {
					if lit, ok := s.values.Only(n).Expr.(*ast.FuncLit); ok {
						s.walk(lit, depth-1)
					}
				}
			}
		}
		return true
	})
}

// access says which methods of a column read its values, false, and which write them, true.
var access = map[string]bool{
	"Edit": true, "EditRun": true, "Get": false, "Set": true, "SetAll": true, "Slice": false, "TrySlice": false,
}

// columns are the types that have values which are declared.
var columns = map[string]bool{"vast.Column": true, "vast.HeapColumn": true, "vast.SparseColumn": true}

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
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && s.TypesInfo.Types[call.Fun].IsBuiltin() && len(call.Args) > 0 {
		if id.Name == "copy" || id.Name == "clear" {
			s.writeTo(call, call.Args[0])
		}
	}
}

// writeThrough notes the column that an assignment writes through a pointer or a slice.
func (s *system) writeThrough(to ast.Expr) {
	for e := to; ; {
		var x ast.Expr
		switch e := ast.Unparen(e).(type) {
		case *ast.StarExpr:
			s.writeTo(to, e.X)
			return
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		default:
			return
		}
		switch s.TypesInfo.TypeOf(x).Underlying().(type) {
		case *types.Pointer, *types.Slice:
			s.writeTo(to, x)
			return
		}
		e = x
	}
}

// writeTo notes the column that a pointer or a slice comes from.
func (s *system) writeTo(at ast.Node, pointer ast.Expr) {
	source := s.values.Only(pointer)
	if source.Range != nil {
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

// touch reports a column that is touched and not declared.
func (s *system) touch(at ast.Node, column ast.Expr, write bool) {
	key := s.key(column)
	if x, ok := key.(*types.Var); key == nil || ok && s.values.Parameter(x) && !s.around(x) {
		return
	}
	if s.declares(s.writes, column, key) || !write && s.declares(s.reads, column, key) {
		return
	}
	if s.said[said{key, write}] || s.said[said{key, true}] {
		return
	}
	s.said[said{key, write}] = true
	text := types.ExprString(column)
	switch {
	case write && s.declares(s.reads, column, key):
		s.Say(at, "%s writes %s and declares it as read only: move it to Writes, or others read it meanwhile", s.name, text)
	case write:
		s.SayWithFix(at, "Declare "+text, s.declare("Writes", at, column),
			"%s writes %s and does not declare it: add it to Writes, or others touch it meanwhile", s.name, text)
	default:
		s.SayWithFix(at, "Declare "+text, s.declare("Reads", at, column),
			"%s reads %s and does not declare it: add it to Reads, or others write it meanwhile", s.name, text)
	}
}

// around reports whether a parameter is one of a function in which the system is made.
func (s *system) around(x *types.Var) bool {
	scope := x.Parent()
	return scope != nil && scope.Contains(s.lit.Pos())
}

// key returns what stands for a column: the call that made it, or the variable or field that it lies in; nil where that is not known.
func (s *system) key(column ast.Expr) any {
	source := s.values.Only(column)
	if source.Range != nil {
		return nil
	}
	if call, ok := ast.Unparen(source.Expr).(*ast.CallExpr); ok {
		return call
	}
	if x := s.values.Var(source.Expr); x != nil {
		return x
	}
	return nil
}

// declares reports whether a column is, or may be, one of those in a list.
func (s *system) declares(list []ast.Expr, column ast.Expr, key any) bool {
	t := bare(s.TypesInfo.TypeOf(column))
	for _, e := range list {
		other := s.key(e)
		if other == key {
			return true
		}
		if types.Identical(t, bare(s.TypesInfo.TypeOf(s.values.Only(e).Expr))) && !s.distinct(key, other) {
			return true
		}
	}
	return false
}

func bare(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// distinct reports whether two keys certainly stand for two columns: two calls made them, or they lie in two fields of one struct, or
// in two variables of one scope.
func (l *look) distinct(a, b any) bool {
	if _, ok := a.(*ast.CallExpr); ok {
		_, ok := b.(*ast.CallExpr)
		return ok
	}
	x, ok := a.(*types.Var)
	y, both := b.(*types.Var)
	if !ok || !both || x.IsField() != y.IsField() {
		return false
	}
	if x.IsField() {
		return l.structs[x] != nil && l.structs[x] == l.structs[y]
	}
	return x.Parent() == y.Parent()
}

// declare returns the edits that add a column to a list, where the literal has the column in reach.
func (s *system) declare(field string, at ast.Node, column ast.Expr) []analysis.TextEdit {
	_, root := trace.Path(s.TypesInfo, column)
	if root == nil || root.Pos() >= s.lit.Pos() || root.Parent() == nil || !root.Parent().Contains(s.lit.Pos()) ||
		at.Pos() < s.lit.Pos() || at.End() > s.lit.End() {
		return nil
	}
	text := types.ExprString(column)
	if kv := s.fields[field]; kv != nil {
		call, ok := kv.Value.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return nil
		}
		end := call.Args[len(call.Args)-1].End()
		return []analysis.TextEdit{{Pos: end, End: end, NewText: []byte(", " + text)}}
	}
	run := s.fields["Run"]
	of, ok := s.lit.Type.(*ast.SelectorExpr)
	if run == nil || !ok {
		return nil
	}
	text = field + ": " + types.ExprString(of.X) + ".Columns(" + text + "), "
	return []analysis.TextEdit{{Pos: run.Pos(), End: run.Pos(), NewText: []byte(text)}}
}
