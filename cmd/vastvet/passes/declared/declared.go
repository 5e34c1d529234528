// Package declared finds systems that touch columns, event queues or jobs without declaring them, and jobs
// that touch columns.
package declared

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// Analyzer finds systems that read or write a column that is not in their Reads or Writes, or use an event
// queue or sched.Jobs that are not in their ReadsResources or WritesResources. It also finds functions of
// sched.NewJobs that touch a column.
var Analyzer = check.New("declared", `find systems that touch a column or an event queue without declaring it

A schedule runs systems in parallel if their declarations allow it. A system that touches an undeclared column
races with systems that write the column, and its results depend on timing.

	s.Add(sched.System{Name: "move", Writes: sched.Columns(pos), Run: func(c *sched.Context) {
		for run := range q.Runs() {
			p, v := pos.Slice(run), vel.Slice(run) // wrong: vel is not declared
			...

	s.Add(sched.System{Name: "move", Reads: sched.Columns(vel), Writes: sched.Columns(pos), ... // right

The analyzer examines system literals that are passed to Schedule.Add unchanged. It examines the functions Run
and If of a literal, and the functions of the same package that Run and If call. It follows columns through
variables and fields that are assigned once. If the analyzer cannot follow a column, or if the column may
belong to another world, the analyzer treats the column as declared. A build with -tags invariants checks such
columns when the system runs. In every build, event queues and Jobs panic if a system uses them undeclared.

The function of sched.NewJobs runs beside the ticks, so it must not touch columns. The analyzer examines
function literals that are passed to NewJobs.`, run)

func run(p *check.Pass) {
	var l *look
	nodes := []ast.Node{(*ast.CompositeLit)(nil), (*ast.CallExpr)(nil)}
	p.Inspector.WithStack(nodes, func(n ast.Node, push bool, stack []ast.Node) bool {
		lit, isLit := n.(*ast.CompositeLit)
		call, isCall := n.(*ast.CallExpr)
		if !push || isLit && lib.TypeName(p.TypesInfo.TypeOf(lit)) != "sched.System" ||
			isCall && lib.Callee(p.TypesInfo, call) != "sched.NewJobs" {
			return true
		}
		if l == nil {
			l = &look{Pass: p, values: trace.New(p.TypesInfo, p.Inspector),
				functions: map[*types.Func]*ast.FuncDecl{}, uses: map[types.Object][][]ast.Node{},
				adds: map[types.Object]bool{}}
			l.index()
		}
		if isCall {
			l.jobs(call, stack[1])
		} else if l.goesToAdd(stack) {
			l.system(lit, stack[1])
		}
		return true
	})
}

type look struct {
	*check.Pass
	values        *trace.Values
	functions     map[*types.Func]*ast.FuncDecl
	uses          map[types.Object][][]ast.Node // node stacks of the uses of an object
	adds          map[types.Object]bool         // known results of usedForAdd
	severalWorlds bool
}

// index sets functions, uses and severalWorlds. uses contains the functions that return systems, and the
// variables that hold a System, an AnyColumn, or a list of Systems or AnyColumns.
func (l *look) index() {
	nodes := []ast.Node{(*ast.FuncDecl)(nil), (*ast.Ident)(nil)}
	l.Inspector.WithStack(nodes, func(n ast.Node, push bool, stack []ast.Node) bool {
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
				results := x.Signature().Results()
				if results.Len() == 1 && holds(results.At(0).Type(), "sched.System") {
					l.uses[x.Origin()] = append(l.uses[x.Origin()], slices.Clone(stack))
				}
			}
		}
		return true
	})
	l.severalWorlds = l.worldsOfPackage() > 1
}

// holds reports whether a type is one of the named types, or a slice or array of such a type.
func holds(t types.Type, names ...string) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		t = u.Elem()
	case *types.Array:
		t = u.Elem()
	}
	return slices.Contains(names, lib.TypeName(t))
}

type system struct {
	*look
	lit           *ast.CompositeLit
	declaration   ast.Node
	name          string
	fields        map[string]*ast.KeyValueExpr
	reads, writes []ast.Expr
	seen          map[ast.Node]bool
	given         map[*types.Var][]ast.Expr // functions that are passed as a parameter
	called        map[*types.Var]bool       // parameters that are called
	found         []finding
	foundQueues   []foundQueue
}

// finding is an undeclared access to a column.
type finding struct {
	at       ast.Node
	column   ast.Expr
	key      any
	write    bool
	readOnly bool // Reads contains the column, but the system writes it
}

// system examines a literal. It skips exclusive systems, and literals whose Reads or Writes are unknown.
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

// list returns the columns in a field of the literal. ok reports whether all columns are known.
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
			// The element is a struct that embeds a column, or an interface. The declared column is unknown.
			return nil, false
		}
	}
	return columns, true
}

// neverChanged reports whether each use of a variable is the value of a field in a system literal. No code
// then changes the elements of the list that the variable holds.
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

// typeOf returns the type of a column. For an interface it returns the dynamic type, if known.
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

// targets reports whether an expression is the column of a relation's targets, which has no values.
func targets(info *types.Info, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	name := lib.Callee(info, call)
	return name == "vast.Relation.TargetColumn" || name == "vast.Edges.TargetColumn"
}
