package declared

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// makers are the functions that return a new column, event queue or Jobs from each call. The new columns have
// only types that a system must declare: see the variable columns.
var makers = map[string]bool{
	"event.New": true, "sched.NewJobs": true, "vast.NewColumn": true, "vast.NewDisabled": true,
	"vast.NewHeapColumn": true, "vast.NewSparseColumn": true,
}

// key returns the identity of a column: the call that made the column, the variable or field that holds it,
// or the text of the expression. It returns nil for a loop variable, which stands for several columns.
func (l *look) key(column ast.Expr) any {
	source := l.values.Only(column)
	if source.Range != nil {
		return nil
	}
	if call := l.maker(column); call != nil {
		return call
	}
	if x := l.values.Var(source.Expr); x != nil {
		return x
	}
	if x := l.values.Var(column); x != nil {
		return x
	}
	return types.ExprString(column)
}

// maker returns the call that made a column, or nil if the call is unknown.
func (l *look) maker(column ast.Expr) *ast.CallExpr {
	source := l.values.Only(column)
	if call, ok := ast.Unparen(source.Expr).(*ast.CallExpr); ok && source.Range == nil &&
		makers[lib.Callee(l.TypesInfo, call)] {
		return call
	}
	return nil
}

// declares reports whether a list may contain a column. Two variables of one type may hold the same column.
// They hold different columns if different calls made the columns.
func (s *system) declares(list []ast.Expr, column ast.Expr, key any) bool {
	t := bare(s.TypesInfo.TypeOf(column))
	_, made := key.(*ast.CallExpr)
	for _, e := range list {
		other := s.key(e)
		if other == key {
			return true
		}
		if _, ok := other.(*ast.CallExpr); ok && made {
			continue
		}
		if u := bare(s.typeOf(e)); types.Identical(t, u) || lib.TypeName(t) == lib.TypeName(u) &&
			(generic(t) || generic(u)) {
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

// generic reports whether a type contains, or may contain, type parameters. Type arguments may make such a
// type identical to another type.
func generic(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return false
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			if generic(arg) {
				return true
			}
		}
		return false
	case *types.Pointer:
		return generic(t.Elem())
	case *types.Slice:
		return generic(t.Elem())
	case *types.Array:
		return generic(t.Elem())
	}
	return true
}

// ofSameWorld reports whether a column certainly belongs to the world of the system. This is certain in each
// of these cases:
//   - The package has one world, and the column does not come from another package.
//   - The package has one world, and the system declares another column of the same struct.
//   - The system declares another column of the same struct, and both columns were made from one world.
//   - The function that makes the system also makes the column and a declared column, from one world.
func (s *system) ofSameWorld(column ast.Expr) bool {
	several := s.severalWorlds || s.worldsOf(s.declaration) > 1
	if !several && !s.foreign(column) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(s.reads, s.writes), func(other ast.Expr) bool {
		if s.inSameStruct(column, other) {
			return !several || s.madeOf(column) != nil && s.madeOf(column) == s.madeOf(other)
		}
		a, b := s.maker(column), s.maker(other)
		return a != nil && b != nil && s.inDeclaration(a) && s.inDeclaration(b) &&
			s.madeOf(column) != nil && s.madeOf(column) == s.madeOf(other)
	})
}

// foreign reports whether another package holds or returns a column. Such a column may belong to another
// world.
func (s *system) foreign(column ast.Expr) bool {
	e := ast.Unparen(s.values.Only(column).Expr)
	if x := s.values.Var(e); x != nil {
		return x.Pkg() != s.Pkg
	}
	call, ok := e.(*ast.CallExpr)
	if !ok || s.maker(column) != nil {
		return false
	}
	f := typeutil.Callee(s.TypesInfo, call)
	return f != nil && f.Pkg() != s.Pkg
}

func (s *system) inDeclaration(call *ast.CallExpr) bool {
	return s.declaration.Pos() <= call.Pos() && call.End() <= s.declaration.End()
}

func (s *system) inSameStruct(a, b ast.Expr) bool {
	x, ok := ast.Unparen(a).(*ast.SelectorExpr)
	y, both := ast.Unparen(b).(*ast.SelectorExpr)
	if !ok || !both {
		return false
	}
	p, root := trace.Path(s.TypesInfo, x.X)
	q, other := trace.Path(s.TypesInfo, y.X)
	return root != nil && root == other && p == q
}

// madeOf returns the identity of the world that a column was made from, or nil if unknown.
func (s *system) madeOf(column ast.Expr) any {
	if call := s.maker(column); call != nil {
		return s.world(call.Args[0])
	}
	return nil
}

// world returns the identity of a world: the call that made the world, or the variable that holds the world.
// It returns nil for other expressions.
func (l *look) world(e ast.Expr) any {
	source := l.values.Only(e)
	if call, ok := ast.Unparen(source.Expr).(*ast.CallExpr); ok &&
		lib.Callee(l.TypesInfo, call) == "vast.NewWorld" {
		return call
	}
	if x := l.values.Var(source.Expr); x != nil && source.Range == nil {
		return x
	}
	return nil
}

// worldsOf returns the number of worlds that a declaration may use. It counts the worlds of
//   - variables that the declaration declares,
//   - fields, and variables of other packages,
//   - results of calls.
//
// Methods of sched.Context and sched.Schedule do not count, because they return the system's world.
func (l *look) worldsOf(declaration ast.Node) int {
	worlds := map[any]bool{}
	note := func(x *types.Var, e ast.Expr) {
		if w := l.world(e); w != nil {
			worlds[w] = true
		} else {
			worlds[x] = true
		}
	}
	ast.Inspect(declaration, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			x, ok := l.TypesInfo.Defs[n].(*types.Var)
			if !ok || lib.TypeName(x.Type()) != "vast.World" {
				break
			}
			if _, counted := ast.Unparen(l.values.Only(n).Expr).(*ast.CallExpr); !counted {
				note(x, n)
			}
		case *ast.SelectorExpr:
			if x := l.values.Var(n); x != nil && lib.TypeName(x.Type()) == "vast.World" {
				note(x, n)
			}
		case *ast.CallExpr:
			of, last := lib.Split(lib.Callee(l.TypesInfo, n))
			switch {
			case of == "vast" && last == "NewWorld":
				worlds[n] = true
			case of == "sched.Context" || of == "sched.Schedule":
			case yieldsWorld(l.TypesInfo.TypeOf(n)):
				worlds[types.ExprString(n)] = true
			}
		}
		return true
	})
	return len(worlds)
}

func yieldsWorld(t types.Type) bool {
	if results, ok := t.(*types.Tuple); ok {
		for x := range results.Variables() {
			if lib.TypeName(x.Type()) == "vast.World" {
				return true
			}
		}
		return false
	}
	return lib.TypeName(t) == "vast.World"
}

// worldsOfPackage estimates the number of worlds of a package. It returns the largest of three numbers: the
// worlds of the function that uses the most, the worlds of all declarations outside of functions, and the
// calls of NewWorld. It skips tests, which have their own worlds.
func (l *look) worldsOfPackage() (most int) {
	made, fields := 0, 0
	for _, file := range l.Files {
		if l.InTest(file) {
			continue
		}
		for _, d := range file.Decls {
			if _, ok := d.(*ast.FuncDecl); ok {
				most = max(most, l.worldsOf(d))
			} else {
				fields += l.worldsOf(d)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && lib.Callee(l.TypesInfo, call) == "vast.NewWorld" {
				made++
			}
			return true
		})
	}
	return max(most, made, fields)
}
