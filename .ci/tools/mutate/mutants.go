package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"
)

// mutant is one small change to a file.
type mutant struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Func   string `json:"func"`
	Change string `json:"change"`
	Text   string `json:"text"` // the changed line before the change

	source []byte // the whole file with the change
}

var replacements = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.REM: {token.MUL},
	token.AND: {token.OR}, token.OR: {token.AND}, token.XOR: {token.AND}, token.AND_NOT: {token.AND},
	token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.INC: {token.DEC}, token.DEC: {token.INC},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.OR_ASSIGN: {token.AND_ASSIGN}, token.AND_ASSIGN: {token.OR_ASSIGN},
	token.AND_NOT_ASSIGN: {token.OR_ASSIGN},
	token.SHL_ASSIGN:     {token.SHR_ASSIGN}, token.SHR_ASSIGN: {token.SHL_ASSIGN},
	token.BREAK: {token.CONTINUE}, token.CONTINUE: {token.BREAK},
}

// mutantsOf returns all mutants of a file: replaced operators, exchanged break and continue, forced
// conditions, omitted statements. It does not change the arguments of panic, the texts of errors, or calls of
// package invariants.
func mutantsOf(path string, source []byte) ([]mutant, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	m := &mutator{path: path, source: source, set: set, file: file}
	ast.Inspect(file, m.visit)
	return m.found, nil
}

type mutator struct {
	path   string
	source []byte
	set    *token.FileSet
	file   *ast.File
	found  []mutant
	inside string // the name of the current function
}

func (m *mutator) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		m.inside = n.Name.Name
	case *ast.GenDecl:
		// a change to an import, type or constant affects the code and its tests alike
		return n.Tok == token.VAR
	case *ast.CallExpr:
		return !isDiagnostic(n)
	case *ast.CompositeLit:
		return !isError(n)
	case *ast.BinaryExpr:
		m.replace(n.OpPos, n.Op, &n.Op)
	case *ast.IncDecStmt:
		m.replace(n.TokPos, n.Tok, &n.Tok)
	case *ast.AssignStmt:
		m.replace(n.TokPos, n.Tok, &n.Tok)
	case *ast.BranchStmt:
		if n.Label == nil {
			m.replace(n.TokPos, n.Tok, &n.Tok)
		}
	case *ast.IfStmt:
		if sel, ok := n.Cond.(*ast.SelectorExpr); ok && isDiagnostic(&ast.CallExpr{Fun: sel}) {
			return true // the builds with and without the tag test both values of invariants.Enabled
		}
		m.change(n.Cond.Pos(), "condition → true", func() func() { return m.force(&n.Cond, true) })
		m.change(n.Cond.Pos(), "condition → false", func() func() { return m.force(&n.Cond, false) })
	case *ast.BlockStmt:
		m.leaveOut(n.List)
	case *ast.CaseClause:
		m.leaveOut(n.Body)
	}
	return true
}

// force makes a condition always true or always false. The new condition still contains the old one, because
// otherwise a variable could become unused.
func (m *mutator) force(cond *ast.Expr, value bool) (undo func()) {
	old := *cond
	op := token.LAND
	if value {
		op = token.LOR
	}
	*cond = &ast.BinaryExpr{X: ast.NewIdent(strconv.FormatBool(value)), Op: op, Y: &ast.ParenExpr{X: old}}
	return func() { *cond = old }
}

func (m *mutator) replace(pos token.Pos, op token.Token, at *token.Token) {
	for _, other := range replacements[op] {
		m.change(pos, fmt.Sprintf("%s → %s", op, other), func() func() {
			*at = other
			return func() { *at = op }
		})
	}
}

// leaveOut makes mutants by omitting single statements: calls, assignments to existing variables, increments,
// decrements, and defer statements.
func (m *mutator) leaveOut(list []ast.Stmt) {
	for i, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && isDiagnostic(call) {
				continue
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.IncDecStmt, *ast.DeferStmt:
		default:
			continue
		}
		m.change(s.Pos(), "statement left out", func() func() {
			list[i] = &ast.EmptyStmt{Semicolon: s.Pos(), Implicit: false}
			return func() { list[i] = s }
		})
	}
}

// change makes a mutant. do changes the syntax tree and returns a function that undoes the change.
func (m *mutator) change(pos token.Pos, what string, do func() (undo func())) {
	undo := do()
	defer undo()
	var b bytes.Buffer
	if err := format.Node(&b, m.set, m.file); err != nil {
		return // the changed program is not valid
	}
	line := m.set.Position(pos).Line
	text := bytes.TrimSpace(bytes.Split(m.source, []byte("\n"))[line-1])
	m.found = append(m.found, mutant{File: m.path, Line: line, Func: m.inside, Change: what,
		Text: string(text), source: b.Bytes()})
}

// isDiagnostic reports whether a call is panic, or calls package fmt, errors or invariants.
func isDiagnostic(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "panic"
	case *ast.SelectorExpr:
		x, ok := f.X.(*ast.Ident)
		return ok && (x.Name == "fmt" || x.Name == "errors" || x.Name == "invariants")
	}
	return false
}

func isError(lit *ast.CompositeLit) bool {
	s, ok := lit.Type.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Error"
}
