// Package declared finds systems that touch columns which they do not declare.
package declared

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds systems that read or write a column which is not among their Reads and Writes.
var Analyzer = check.New("declared", `find systems that touch a column which they do not declare

A schedule runs systems at once when what they declare allows it. One that touches a column which it does not declare
races with those that write it, and its results depend on timing.

	s.Add(sched.System{Name: "move", Writes: sched.Columns(pos), Run: func(c *sched.Context) {
		for run := range q.Runs() {
			p, v := pos.Slice(run), vel.Slice(run) // wrong: vel is not declared
			...

	s.Add(sched.System{Name: "move", Reads: sched.Columns(vel), Writes: sched.Columns(pos), ... // right

It looks into Run and If, and into functions of the same package that run with them, of systems that go to Schedule.Add as
their literal stands. It follows columns through variables and fields that are given a value once. What it cannot follow it
takes for declared, and so it does where a column may be one of another world, which a system cannot declare. Builds with
the tag invariants check the rest when the system runs.`, run)

func run(p *check.Pass) {
	var l *look
	p.Inspector.WithStack([]ast.Node{(*ast.CompositeLit)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		lit := n.(*ast.CompositeLit)
		if !push || lib.TypeName(p.TypesInfo.TypeOf(lit)) != "sched.System" {
			return true
		}
		if l == nil {
			l = &look{Pass: p, values: trace.New(p.TypesInfo, p.Inspector), functions: map[*types.Func]*ast.FuncDecl{},
				uses: map[types.Object][][]ast.Node{}, adds: map[types.Object]bool{}}
			l.index()
		}
		if l.goesToAdd(stack) {
			l.system(lit, stack[1])
		}
		return true
	})
}

type look struct {
	*check.Pass
	values        *trace.Values
	functions     map[*types.Func]*ast.FuncDecl
	uses          map[types.Object][][]ast.Node // of what has systems or lists of columns, each in what it stands in
	adds          map[types.Object]bool         // whether what has systems has them for Schedule.Add only, where that is known
	severalWorlds bool
}

// index notes where the functions of the package are declared, where variables and functions are used that hold or return
// systems or lists of columns, and whether there may be several worlds.
func (l *look) index() {
	l.Inspector.WithStack([]ast.Node{(*ast.FuncDecl)(nil), (*ast.Ident)(nil)}, func(n ast.Node, push bool, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if push && n.Body != nil {
				l.functions[l.TypesInfo.Defs[n.Name].(*types.Func)] = n
			}
		case *ast.Ident:
			if !push {
				break
			}
			switch x := l.TypesInfo.Uses[n].(type) {
			case *types.Var:
				if holds(x.Type(), "sched.System", "vast.AnyColumn") {
					l.uses[x.Origin()] = append(l.uses[x.Origin()], slices.Clone(stack))
				}
			case *types.Func:
				if results := x.Signature().Results(); results.Len() == 1 && holds(results.At(0).Type(), "sched.System") {
					l.uses[x.Origin()] = append(l.uses[x.Origin()], slices.Clone(stack))
				}
			}
		}
		return true
	})
	l.severalWorlds = l.worldsOfPackage() > 1
}

// holds reports whether a type is one of those named, or a list of one.
func holds(t types.Type, names ...string) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		t = u.Elem()
	case *types.Array:
		t = u.Elem()
	}
	return slices.Contains(names, lib.TypeName(t))
}

// goesToAdd reports whether the value of the innermost expression of a stack goes to Schedule.Add as it is, and nowhere
// else: what goes through other hands may be completed there.
func (l *look) goesToAdd(stack []ast.Node) bool {
	i := len(stack) - 1
	for i > 0 && isParen(stack[i-1]) {
		i--
	}
	if i == 0 {
		return false
	}
	e := stack[i]
	switch p := stack[i-1].(type) {
	case *ast.CallExpr:
		if p.Fun == e {
			return l.goesToAdd(stack[:i]) // is what returns it
		}
		return lib.Callee(l.TypesInfo, p) == "sched.Schedule.Add" || l.passedForAdd(p, e)
	case *ast.SelectorExpr:
		return p.Sel == e && l.goesToAdd(stack[:i])
	case *ast.ReturnStmt:
		return l.returnedForAdd(stack[:i])
	case *ast.AssignStmt:
		for j, value := range p.Rhs {
			if value == e && len(p.Lhs) == len(p.Rhs) {
				return l.heldForAdd(p.Lhs[j])
			}
		}
	case *ast.ValueSpec:
		for j, value := range p.Values {
			if value == e && len(p.Names) == len(p.Values) {
				return l.heldForAdd(p.Names[j])
			}
		}
	case *ast.RangeStmt:
		return p.X == e && p.Value != nil && l.heldForAdd(p.Value)
	case *ast.CompositeLit:
		return holds(l.TypesInfo.TypeOf(p), "sched.System") && l.goesToAdd(stack[:i])
	}
	return false
}

func isParen(n ast.Node) bool {
	_, ok := n.(*ast.ParenExpr)
	return ok
}

// heldForAdd is goesToAdd for the local variable that an expression names.
func (l *look) heldForAdd(to ast.Expr) bool {
	x := l.values.Var(to)
	if x == nil || x.IsField() || x.Parent() == l.Pkg.Scope() {
		return false
	}
	all, sure := l.values.Sources(x)
	return sure && len(all) == 1 && l.usedForAdd(x)
}

// passedForAdd is goesToAdd for an argument of a call.
func (l *look) passedForAdd(call *ast.CallExpr, argument ast.Node) bool {
	d := l.callee(call)
	if d == nil {
		return false
	}
	x := parameter(l.TypesInfo, d, slices.IndexFunc(call.Args, func(e ast.Expr) bool { return e == argument }))
	if x == nil || lib.TypeName(x.Type()) != "sched.System" || l.values.Taken(x) {
		return false
	}
	all, _ := l.values.Sources(x)
	return len(all) == 0 && l.usedForAdd(x)
}

// parameter returns a function's i-th parameter, or nil.
func parameter(info *types.Info, d *ast.FuncDecl, i int) *types.Var {
	signature := info.Defs[d.Name].(*types.Func).Signature()
	params := signature.Params()
	if i < 0 || i >= params.Len() || signature.Variadic() && i == params.Len()-1 {
		return nil
	}
	return params.At(i)
}

// returnedForAdd is goesToAdd for what a statement returns, the innermost of a stack. Other packages may complete what an
// exported function returns.
func (l *look) returnedForAdd(stack []ast.Node) bool {
	for _, n := range slices.Backward(stack) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.FuncDecl:
			f := l.TypesInfo.Defs[n.Name].(*types.Func)
			return !f.Exported() && f.Signature().Results().Len() == 1 && f.Signature().Results().At(0).Name() == "" && l.usedForAdd(f)
		}
	}
	return false
}

// usedForAdd reports whether all uses of a variable go to Schedule.Add, or all results of a function.
func (l *look) usedForAdd(x types.Object) bool {
	if known, ok := l.adds[x]; ok {
		return known
	}
	l.adds[x] = false // what goes back to itself is not known
	l.adds[x] = len(l.uses[x]) > 0 && !slices.ContainsFunc(l.uses[x], func(use []ast.Node) bool { return !l.goesToAdd(use) })
	return l.adds[x]
}

// system is one that is looked at.
type system struct {
	*look
	lit           *ast.CompositeLit
	declaration   ast.Node
	name          string
	fields        map[string]*ast.KeyValueExpr
	reads, writes []ast.Expr
	seen          map[ast.Node]bool
	given         map[*types.Var][]ast.Expr // functions, to the parameters that they are passed as
	called        map[*types.Var]bool       // parameters
	found         []finding
}

// finding is a column that is touched and not declared.
type finding struct {
	at       ast.Node
	column   ast.Expr
	key      any
	write    bool
	readOnly bool // is declared as that
}

// system looks at a literal, unless something in it is not known.
func (l *look) system(lit *ast.CompositeLit, declaration ast.Node) {
	s := &system{look: l, lit: lit, declaration: declaration, fields: map[string]*ast.KeyValueExpr{},
		seen: map[ast.Node]bool{}, given: map[*types.Var][]ast.Expr{}, called: map[*types.Var]bool{}}
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
			s.enter(kv.Value, 8)
		}
	}
	s.report()
}

// list returns the columns that a field of the literal names; ok reports whether all are known.
func (s *system) list(field string) (columns []ast.Expr, ok bool) {
	kv := s.fields[field]
	if kv == nil || s.TypesInfo.Types[kv.Value].IsNil() {
		return nil, true
	}
	if x := s.values.Var(kv.Value); x != nil && !s.neverChanged(x) {
		return nil, false
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
		if t := s.typeOf(c); lib.TypeName(t) == "" || types.IsInterface(t) && !targets(s.TypesInfo, c) {
			return nil, false // also a struct that embeds a column
		}
	}
	return columns, true
}

// neverChanged reports whether a list of columns is used as a field of systems only, so that nobody sets its elements.
func (l *look) neverChanged(x *types.Var) bool {
	for _, use := range l.uses[x] {
		kv, ok := use[len(use)-2].(*ast.KeyValueExpr)
		if !ok || kv.Value != use[len(use)-1] {
			return false
		}
		lit, ok := use[len(use)-3].(*ast.CompositeLit)
		if !ok || lib.TypeName(l.TypesInfo.TypeOf(lit)) != "sched.System" {
			return false
		}
	}
	return true
}

// typeOf returns the type of a column, also of one that a variable of an interface type holds.
func (l *look) typeOf(column ast.Expr) types.Type {
	t := l.TypesInfo.TypeOf(column)
	if t != nil && types.IsInterface(t) {
		if source := l.values.Only(column); source.Range == nil {
			if of := l.TypesInfo.TypeOf(source.Expr); of != nil {
				return of
			}
		}
	}
	return t
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

// enter looks at a function that runs with the system. depth is how many calls more are followed.
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
		s.enter(f.X, depth) // with type arguments
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

// enterReturned looks at the functions that a function returns.
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

// callee returns the declaration of the package's function that is called, or nil.
func (l *look) callee(call *ast.CallExpr) *ast.FuncDecl {
	if f, ok := typeutil.Callee(l.TypesInfo, call).(*types.Func); ok {
		return l.functions[f.Origin()]
	}
	return nil
}

// give notes the functions that a call passes to one of the package: they run where that calls its parameters.
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

// callsBack reports whether a function that is called calls those that it is passed before it returns. Others may keep
// them for later, when the system does not run.
func (s *system) callsBack(call *ast.CallExpr) bool {
	switch lib.Callee(s.TypesInfo, call) {
	case "sched.Context.Each", "sched.Context.Split", "sched.Reduce":
		return true
	}
	f, ok := typeutil.Callee(s.TypesInfo, call).(*types.Func)
	return ok && f.Pkg() != nil && (f.Pkg().Path() == "slices" || f.Pkg().Path() == "sort")
}

// walk looks at a body and at the functions that it calls.
func (s *system) walk(body *ast.BlockStmt, depth int) {
	if depth == 0 || s.seen[body] {
		return
	}
	s.seen[body] = true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // is entered where it is called
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

// touch notes a column that is touched and not declared.
func (s *system) touch(at ast.Node, column ast.Expr, write bool) {
	if !columns[lib.TypeName(s.TypesInfo.TypeOf(column))] {
		return // embeds one
	}
	key := s.key(column)
	if x, ok := key.(*types.Var); key == nil || ok && s.values.Parameter(x) && !s.around(x) {
		return
	}
	if s.declares(s.writes, column, key) || !write && s.declares(s.reads, column, key) || !s.ofSameWorld(column) {
		return
	}
	if slices.ContainsFunc(s.found, func(f finding) bool { return f.key == key && (f.write || !write) }) {
		return
	}
	// Who writes a column may read it, too.
	s.found = slices.DeleteFunc(s.found, func(f finding) bool { return f.key == key })
	s.found = append(s.found, finding{at, column, key, write, write && s.declares(s.reads, column, key)})
}

// report says what was found. The first finding that asks for more columns in a list mends the list for all of them: two
// changes could both add the field.
func (s *system) report() {
	var reads, writes []string
	for _, f := range s.found {
		text := types.ExprString(f.column)
		switch {
		case f.readOnly || !s.inReach(f):
		case f.write && !slices.Contains(writes, text):
			writes = append(writes, text)
		case !f.write && !slices.Contains(reads, text):
			reads = append(reads, text)
		}
	}
	for _, f := range s.found {
		text := types.ExprString(f.column)
		switch {
		case f.readOnly:
			s.Say(f.at, "%s writes %s and declares it as read only: move it to Writes, or others read it meanwhile", s.name, text)
		case f.write:
			mend, edits := s.declare("Writes", f, &writes)
			s.SayWithFix(f.at, mend, edits,
				"%s writes %s and does not declare it: add it to Writes, or others touch it meanwhile", s.name, text)
		default:
			mend, edits := s.declare("Reads", f, &reads)
			s.SayWithFix(f.at, mend, edits,
				"%s reads %s and does not declare it: add it to Reads, or others write it meanwhile", s.name, text)
		}
	}
}

// around reports whether a parameter is one of a function in which the system is made.
func (s *system) around(x *types.Var) bool {
	scope := x.Parent()
	return scope != nil && scope.Contains(s.lit.Pos())
}

// inReach reports whether the name by which a column is touched stands for the same one where the literal does.
func (s *system) inReach(f finding) bool {
	_, root := trace.Path(s.TypesInfo, f.column)
	if root == nil || f.at.Pos() < s.lit.Pos() || f.at.End() > s.lit.End() {
		return false
	}
	scope := s.Pkg.Scope().Innermost(s.lit.Pos())
	if scope == nil {
		return false
	}
	_, there := scope.LookupParent(root.Name(), s.lit.Pos())
	return there == root
}

// declare returns the edits that add columns to a list of the literal, once.
func (s *system) declare(field string, f finding, missing *[]string) (mend string, edits []analysis.TextEdit) {
	if len(*missing) == 0 || !s.inReach(f) {
		return "", nil
	}
	text := strings.Join(*missing, ", ")
	*missing = nil
	mend = "Declare " + text
	if kv := s.fields[field]; kv != nil {
		call, ok := kv.Value.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return "", nil
		}
		end := call.Args[len(call.Args)-1].End()
		return mend, []analysis.TextEdit{{Pos: end, End: end, NewText: []byte(", " + text)}}
	}
	run := s.fields["Run"]
	of, ok := s.lit.Type.(*ast.SelectorExpr)
	if run == nil || !ok {
		return "", nil
	}
	text = field + ": " + types.ExprString(of.X) + ".Columns(" + text + "), "
	return mend, []analysis.TextEdit{{Pos: run.Pos(), End: run.Pos(), NewText: []byte(text)}}
}
