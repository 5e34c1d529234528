package declared

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/vastgo/vast/cmd/vastvet/internal/trace"
)

// report reports the findings. If each finding had a fix, two fixes could both add the field Reads. Therefore
// one fix adds all missing columns of Reads, and one fix adds all missing columns of Writes.
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
			s.Say(f.at, "%s writes %s and declares it as read only, so other systems may read it at the "+
				"same time: move it to Writes", s.name, text)
		case f.write:
			mend, edits := s.declare("Writes", f, &writes)
			s.SayWithFix(f.at, mend, edits,
				"%s writes %s and does not declare it, so other systems may touch it at the same time: "+
					"add it to Writes", s.name, text)
		default:
			mend, edits := s.declare("Reads", f, &reads)
			s.SayWithFix(f.at, mend, edits,
				"%s reads %s and does not declare it, so other systems may write it at the same time: "+
					"add it to Reads", s.name, text)
		}
	}
}

// around reports whether a parameter belongs to a function that surrounds the system.
func (s *system) around(x *types.Var) bool {
	scope := x.Parent()
	return scope != nil && scope.Contains(s.lit.Pos())
}

// inReach reports whether a finding is in the literal, and the column's name already means this column at the
// beginning of the literal.
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

// declare returns the edits that add all missing columns to a field of the literal. It empties missing, so
// that a later call for the same field returns no edits.
func (s *system) declare(field string, f finding, missing *[]string) (mend string,
	edits []analysis.TextEdit) {
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
