// Package unchecked finds errors of running out that nobody looks at.
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

// Analyzer finds calls whose error says that there was no room, and is dropped.
var Analyzer = check.New("unchecked", `find errors of Grow, Commit and the like that are dropped

Where Grow, Commit or another function returns an error nothing has changed: there is no room. A program that goes on as if
there were panics later, or loses what it meant to keep.

	ships.Grow(n) // wrong

	if err := ships.Grow(n); err != nil { // right
		return err
	}

To drop an error on purpose say so: _ = ships.Grow(n).`, run)

// lost says what is overlooked when an error is dropped, by the last part of the function's name, or by all of it where
// others have the same last part.
var lost = map[string]string{
	"Alloc":           noRoom,
	"AllocSlice":      noRoom,
	"Append":          noRoom,
	"AppendN":         noRoom,
	"AppendSlice":     noRoom,
	"Apply":           "the commands from the failing one on are still recorded, and not done",
	"Attach":          "the index is empty and not attached",
	"Build":           "the systems are not in order",
	"Carve":           noRoom,
	"Commit":          noRoom,
	"Compact":         noRoom,
	"Flush":           "what was not flushed is still in the buffer",
	"Grow":            noRoom,
	"GrowCommands":    noRoom,
	"MovePages":       "nothing has moved",
	"NewAllocator":    nothingMade,
	"NewArena":        nothingMade,
	"NewArray":        nothingMade,
	"NewDense":        nothingMade,
	"NewEndless":      nothingMade,
	"NewHashIndex":    nothingMade,
	"NewHeap":         nothingMade,
	"NewLists":        nothingMade,
	"NewOrderedIndex": nothingMade,
	"NewPool":         nothingMade,
	"NewPoolIn":       nothingMade,
	"NewSampledPool":  nothingMade,
	"NewSharedArray":  nothingMade,
	"NewSharedPool":   nothingMade,
	"NewSharedTable":  nothingMade,
	"Populate":        "the memory may be missing when it is touched",
	"Realloc":         noRoom,
	"Reserve":         nothingMade,
	"ReserveContext":  noRoom,
	"ReserveMirror":   nothingMade,
	"Resize":          noRoom,
	"Tick":            "the tick stopped on its way",

	"ring.New":           nothingMade,
	"sched.Schedule.Run": "a tick stopped on its way, and no more follow",
	"vast.Names.Set":     "the entity may have no name, or still its old one",
}

const (
	noRoom      = "there may be no room, and then nothing has changed"
	nothingMade = "there may be nothing to use"
)

func run(p *check.Pass) {
	for c := range p.Inspector.Root().Preorder((*ast.ExprStmt)(nil), (*ast.GoStmt)(nil), (*ast.DeferStmt)(nil)) {
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

// look reports a call whose results nobody takes, in a statement.
func look(p *check.Pass, call *ast.CallExpr, statement inspector.Cursor) {
	name := lib.Callee(p.TypesInfo, call)
	if name == "" {
		return
	}
	of, last := lib.Split(name)
	said, ok := lost[name]
	if !ok {
		said, ok = lost[last]
	}
	if of != "vm" && last == "Reserve" {
		said = noRoom // of a ring
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
	p.SayWithFix(call, "Return the error", edits, "the error of %s is dropped: %s; look at it, or write _ = to drop it on purpose",
		name, said)
}

func returnsError(info *types.Info, call *ast.CallExpr) bool {
	t := info.TypeOf(call)
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		t = tuple.At(tuple.Len() - 1).Type()
	}
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// canReturn reports whether an if statement may stand in the place of a call's, and the error is all that the call returns,
// and all that the function returns in which it stands.
func canReturn(p *check.Pass, call *ast.CallExpr, statement inspector.Cursor) bool {
	if _, ok := statement.Node().(*ast.ExprStmt); !ok {
		return false
	}
	// Elsewhere it begins an if, for or switch statement, or a loop's step, or has a label.
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
		types.Identical(p.TypesInfo.TypeOf(around.Results.List[0].Type), types.Universe.Lookup("error").Type())
}
