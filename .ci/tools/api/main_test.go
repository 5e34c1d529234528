package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

const source = `package p

const Most = 1 << 70
const hidden = 1

var Err error

type Number interface{ ~int | ~float64 }

type Options struct {
	Name  string
	limit int
}

type base struct{ Width, height int }

func (*base) Grow(n int) error { return nil }
func (base) shrink()           {}

type Box[T Number] struct {
	base
	Options
	Value T
}

func (b Box[T]) Get(i int, more ...string) (T, bool) { return b.Value, true }
func (b *Box[T]) Set(T)                              {}

type Reader interface {
	Read([]byte) (int, error)
	private()
}

type Same = Options

func Map[K comparable, V any](m map[K]V, f func(K) V) {}
func internal()                                       {}
`

const listed = `const Most untyped int = 1180591620717411303424
func Map[K comparable, V any](map[K]V, func(K) V)
method (*Box[T]) Grow(int) error
method (*Box[T]) Set(T)
method (Box[T]) Get(int, ...string) (T, bool)
type Box[T Number] struct
type Box[T Number] struct, Options Options
type Box[T Number] struct, Value T
type Box[T Number] struct, Width int
type Number interface
type Number interface, ~int | ~float64
type Options struct
type Options struct, Name string
type Reader interface
type Reader interface, Read([]byte) (int, error)
type Reader interface, unexported methods
type Same = Options
var Err error
`

func TestLines(t *testing.T) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := new(types.Config).Check("example.com/p", files, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(linesOf(p), ""); got != listed {
		t.Errorf("got\n%swant\n%s", got, listed)
	}
}
