package probe

import (
	"cmp"
	"fmt"
	"go/token"
	"reflect"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
)

// NewColumn registers a component whose type is known at run time only, such as one that [TypeOf] made. The
// column works like a column of the same storage that [vast.NewColumn], [vast.NewTag],
// [vast.NewSparseColumn], [vast.NewHeapColumn] or shared.New makes. [Value], [SetValue], [AddValue] and
// [RemoveValue] read and write its components. Queries and archetypes accept the column, and package store
// saves it.
//
// typ is nil for a tag. A type with Go pointers needs [StorageHeap]. NewColumn panics if typ does not fit s,
// and in the cases in which the constructor of this storage panics.
func NewColumn(w *vast.World, name string, s Storage, typ reflect.Type) vast.AnyColumn {
	return engine.NewColumn(w, name, typ, probing.Storage(s))
}

// TypeOf returns a type with the layout l, for [NewColumn]:
//
//   - l.Type, if it is not nil;
//   - an array of l.Count elements with the layout l.Parts[0], if Count is positive;
//   - otherwise a struct of l.Size bytes, with a field for each of l.Parts.
//
// Each field has the name and the offset of its part. Names may be unexported. Blank fields fill the gaps
// that Go's alignment does not make.
//
// TypeOf returns an error if no Go type has the layout: for example, if fields overlap, if an offset is not a
// multiple of the field's alignment, or if a name is not valid for a Go field. Complexity: that of sorting
// the fields. Go never frees a type that TypeOf made.
func TypeOf(l Layout) (t reflect.Type, err error) {
	if l.Type != nil {
		return l.Type, nil
	}
	defer func() {
		if v := recover(); v != nil { // package reflect panics if Go has no type with this layout
			t, err = nil, fmt.Errorf("probe: TypeOf(%s): %v", l.Name, v)
		}
	}()
	if l.Count > 0 {
		if len(l.Parts) == 0 {
			return nil, fmt.Errorf("probe: TypeOf(%s): the array has no element in Parts", l.Name)
		}
		elem, err := TypeOf(l.Parts[0])
		if err != nil {
			return nil, err
		}
		return reflect.ArrayOf(l.Count, elem), nil
	}
	return structOf(l)
}

func structOf(l Layout) (reflect.Type, error) {
	var fields []reflect.StructField
	end, align := 0, 1
	fill := func(to int) {
		if to > end {
			fields = append(fields, reflect.StructField{Name: "_", PkgPath: pkgPath,
				Type: reflect.ArrayOf(to-end, reflect.TypeFor[byte]())})
			end = to
		}
	}
	parts := slices.SortedStableFunc(slices.Values(l.Parts), func(a, b Layout) int {
		return cmp.Compare(a.Offset, b.Offset)
	})
	for _, part := range parts {
		t, err := TypeOf(part)
		if err != nil {
			return nil, err
		}
		if part.Offset < end || part.Offset%t.Align() != 0 {
			return nil, fmt.Errorf("probe: TypeOf(%s): field %s of type %v cannot lie at offset %d: the "+
				"offset must be a multiple of %d, and at least %d", l.Name, part.Name, t, part.Offset,
				t.Align(), end)
		}
		align = max(align, t.Align())
		if (end+t.Align()-1)/t.Align()*t.Align() != part.Offset {
			fill(part.Offset)
		}
		f := reflect.StructField{Name: part.Name, Type: t}
		if !token.IsExported(part.Name) {
			f.PkgPath = pkgPath
		}
		fields = append(fields, f)
		end = part.Offset + int(t.Size())
	}
	if n := len(fields); n > 0 && fields[n-1].Type.Size() == 0 && end == l.Size && end > 0 {
		return nil, fmt.Errorf("probe: TypeOf(%s): the last field, %s, has size 0, and Go adds padding "+
			"after it: raise the Size of the struct, or move the field", l.Name, fields[n-1].Name)
	}
	if l.Size < end || l.Size%align != 0 {
		return nil, fmt.Errorf("probe: TypeOf(%s): the struct cannot have a Size of %d: the size must be a "+
			"multiple of %d, and at least %d, where the last field ends", l.Name, l.Size, align, end)
	}
	if (end+align-1)/align*align != l.Size {
		fill(l.Size)
	}
	return reflect.StructOf(fields), nil
}

// pkgPath is the package path of unexported fields.
const pkgPath = "github.com/vastgo/vast/probe"
