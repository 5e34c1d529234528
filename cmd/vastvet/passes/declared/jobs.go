package declared

import (
	"go/ast"
	"go/types"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// jobs reports the columns that the function literal of a call of sched.NewJobs touches. It skips columns
// that the literal declares, because they may belong to a world of the job. It also skips columns that may
// belong to another world than the schedule (see ofSameWorld).
func (l *look) jobs(call *ast.CallExpr, declaration ast.Node) {
	lit, ok := ast.Unparen(call.Args[1]).(*ast.FuncLit)
	if !ok {
		return
	}
	s := &system{look: l, declaration: declaration}
	said := map[string]bool{}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		touch, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		of, last := lib.Split(lib.Callee(l.TypesInfo, touch))
		column := lib.Receiver(touch)
		if _, ok := access[last]; !ok || !columns[of] || column == nil {
			return true
		}
		_, root := trace.Path(l.TypesInfo, column)
		text := types.ExprString(column)
		if root == nil || lit.Pos() <= root.Pos() && root.Pos() < lit.End() || said[text] ||
			!s.ofSameWorld(column) {
			return true
		}
		said[text] = true
		l.Say(touch, "a job touches %s beside the ticks, so systems may write it at the same time: read %s "+
			"before Start, and pass the value in the input", text, text)
		return true
	})
}
