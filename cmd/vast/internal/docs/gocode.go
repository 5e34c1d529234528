package docs

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"html/template"
	"io"
	"slices"
	"strings"
)

var predeclared = strings.Fields("any append bool byte cap clear close comparable complex complex128 " +
	"complex64 copy delete error false float32 float64 imag int int16 int32 int64 int8 iota len make max " +
	"min new nil panic print println real recover rune string true uint uint16 uint32 uint64 uint8 uintptr")

// writeGo writes Go code as HTML. The classes of tokens are k for keywords, b for predeclared names, f for
// called or declared functions, s for strings and runes, n for numbers, c for comments.
func writeGo(w io.Writer, code []byte) {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(code))
	var s scanner.Scanner
	s.Init(file, code, nil, scanner.ScanComments)
	written := 0
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		if literal == "" {
			literal = tok.String()
		}
		class := ""
		switch {
		case tok == token.SEMICOLON:
			continue // the scanner also returns semicolons that are not in the code
		case tok == token.COMMENT:
			class = "c"
		case tok == token.STRING || tok == token.CHAR:
			class = "s"
		case tok == token.INT || tok == token.FLOAT || tok == token.IMAG:
			class = "n"
		case tok.IsKeyword():
			class = "k"
		case tok == token.IDENT:
			class = classOf(literal, code[file.Offset(pos)+len(literal):])
		}
		if class == "" {
			continue
		}
		begin := file.Offset(pos)
		template.HTMLEscape(w, code[written:begin])
		fmt.Fprintf(w, `<span class="%s">`, class)
		template.HTMLEscape(w, code[begin:begin+len(literal)])
		io.WriteString(w, "</span>")
		written = begin + len(literal)
	}
	template.HTMLEscape(w, code[written:])
}

// classOf returns the class of a name. after is the code after the name.
func classOf(name string, after []byte) string {
	switch {
	case slices.Contains(predeclared, name):
		return "b"
	case bytes.HasPrefix(after, []byte("(")):
		return "f"
	case bytes.HasPrefix(after, []byte("[")):
		// Type arguments may stand between the name and the parenthesis: NewColumn[Position](w)
		if end := bytes.IndexByte(after, ']'); end > 0 && bytes.HasPrefix(after[end+1:], []byte("(")) {
			return "f"
		}
	}
	return ""
}
