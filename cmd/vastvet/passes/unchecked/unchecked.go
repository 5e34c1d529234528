// Package unchecked finds dropped errors of Grow, Commit and similar functions.
package unchecked

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/vastgo/vast/cmd/vastvet/internal/check"
	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// Analyzer finds calls that drop the error of a function that may fail, for example for lack of room.
var Analyzer = check.New("unchecked", `find dropped errors of Grow, Commit and similar functions

If Grow, Commit or a similar function returns an error, the function has not done all of its work, mostly for
lack of room. A program that ignores the error panics later, or loses data.

	ships.Grow(n) // wrong

	if err := ships.Grow(n); err != nil { // right
		return err
	}

To drop an error on purpose, write _ = ships.Grow(n).`, run)

// lost maps a function to the consequence of dropping its error. A key is a short name that matches functions
// of all packages and types, or the full name of one function.
var lost = map[string]string{
	"Alloc":            noRoom,
	"AllocSlice":       noRoom,
	"Append":           noRoom,
	"AppendN":          noRoom,
	"AppendSlice":      noRoom,
	"Attach":           "the index is empty and not attached",
	"Build":            "the systems are not in order",
	"Carve":            noRoom,
	"Commit":           noRoom,
	"CommitTo":         noRoom,
	"Flush":            "data may remain in the buffer",
	"Grow":             noRoom,
	"GrowBytes":        noRoom,
	"GrowCommandBytes": noRoom,
	"GrowEntries":      noRoom,
	"GrowLevels":       noRoom,
	"MovePages":        "nothing has moved",
	"NewAllocator":     nothingMade,
	"NewArray":         nothingMade,
	"NewDense":         nothingMade,
	"NewEndless":       nothingMade,
	"NewHashIndex":     nothingMade,
	"NewLists":         nothingMade,
	"NewOrderedIndex":  nothingMade,
	"NewPool":          nothingMade,
	"NewPoolIn":        nothingMade,
	"NewSampledPool":   nothingMade,
	"NewSharedArray":   nothingMade,
	"NewSharedPool":    nothingMade,
	"NewSharedTable":   nothingMade,
	"Populate":         "the memory may be missing when it is touched",
	"Realloc":          noRoom,
	"Reserve":          nothingMade,
	"ReserveContext":   noRoom,
	"ReserveMirror":    nothingMade,
	"Resize":           noRoom,
	"RunTicks":         "the last tick stopped before its end, or some requested ticks did not run",
	"Tick":             "the tick stopped before its end",

	"arena.New":              nothingMade,
	"bulk.Lists.Compact":     "the lists are compact, but their old memory may not be given back",
	"heap.New":               nothingMade,
	"ring.New":               nothingMade,
	"prefab.Template.Apply":  "some templates may not be applied",
	"sched.Jobs.Start":       "the job may not have started, because too many are in flight",
	"sched.Schedule.Run":     "a tick stopped before its end, and no further tick follows",
	"sched.Schedule.RunOnce": "the system stopped before its end, or its commands are not applied",
	"store.Compact":          "the folder may not be compact",
	"vast.World.Apply":       "the commands from the failing one on are still recorded and not applied",
	"vast.Names.Set":         "the entity may have no name, or may still have its old name",
}

const (
	noRoom      = "there may be no room, and then nothing has changed"
	nothingMade = "there may be nothing to use"
)

func run(p *check.Pass) {
	for c := range p.Inspector.Root().Preorder((*ast.ExprStmt)(nil), (*ast.GoStmt)(nil),
		(*ast.DeferStmt)(nil)) {
		switch n := c.Node().(type) {
		case *ast.ExprStmt:
			if call, ok := ast.Unparen(n.X).(*ast.CallExpr); ok && !p.Provoked(n) {
				look(p, call, c)
			}
		case *ast.GoStmt:
			look(p, n.Call, c)
		case *ast.DeferStmt:
			look(p, n.Call, c)
		}
	}
}

// look reports a call statement that drops an error.
func look(p *check.Pass, call *ast.CallExpr, statement inspector.Cursor) {
	name := lib.Callee(p.TypesInfo, call)
	if name == "" {
		return
	}
	owner, last := lib.Split(name)
	consequence, ok := lost[name]
	if !ok {
		consequence, ok = lost[last]
	}
	if owner != "vm" && last == "Reserve" {
		consequence = noRoom // only vm.Reserve makes a new object
	}
	if !ok || !returnsError(p.TypesInfo, call) {
		return
	}
	var edits []analysis.TextEdit
	if canReturn(p, call, statement) {
		n := statement.Node()
		edits = []analysis.TextEdit{
			{Pos: n.Pos(), End: n.Pos(), NewText: []byte("if err := ")},
			{Pos: n.End(), End: n.End(), NewText: []byte("; err != nil {\nreturn err\n}")},
		}
	}
	p.SayWithFix(call, "Return the error", edits,
		"the error of %s is dropped: %s; check it, or write _ = to drop it on purpose", name,
		consequence)
}

func returnsError(info *types.Info, call *ast.CallExpr) bool {
	t := info.TypeOf(call)
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		t = tuple.At(tuple.Len() - 1).Type()
	}
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// canReturn reports whether an if statement that returns the error can replace the call statement: the error
// is the only result of the call, and the only result of the surrounding function.
func canReturn(p *check.Pass, call *ast.CallExpr, statement inspector.Cursor) bool {
	if _, ok := statement.Node().(*ast.ExprStmt); !ok {
		return false
	}
	// The call must be a statement of a block or of a case. Otherwise it is part of an if, for or switch
	// statement, or has a label.
	switch statement.ParentEdgeKind() {
	case edge.BlockStmt_List, edge.CaseClause_Body, edge.CommClause_Body:
	default:
		return false
	}
	if _, several := p.TypesInfo.TypeOf(call).(*types.Tuple); several {
		return false
	}
	var around *ast.FuncType
	for c := statement; around == nil; c = c.Parent() {
		switch n := c.Node().(type) {
		case *ast.FuncDecl:
			around = n.Type
		case *ast.FuncLit:
			around = n.Type
		}
	}
	return around.Results.NumFields() == 1 && len(around.Results.List[0].Names) == 0 &&
		types.Identical(p.TypesInfo.TypeOf(around.Results.List[0].Type),
			types.Universe.Lookup("error").Type())
}
