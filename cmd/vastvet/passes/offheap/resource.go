package offheap

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// resources are the functions whose type argument is the type of a resource.
var resources = []string{"FindResource", "RemoveResource", "Resource", "SetResource"}

// resource reports a use of one of these functions with a pointer or an interface as the type argument. A
// resource cannot have such a type.
func (f *finder) resource(id *ast.Ident, fn *types.Func, t types.Type) {
	if fn.Pkg() == nil || fn.Pkg().Path() != lib.Module || fn.Signature().Recv() != nil ||
		!slices.Contains(resources, fn.Name()) {
		return
	}
	effect := "finds nothing"
	if fn.Name() == "SetResource" || fn.Name() == "Resource" {
		effect = "panics"
	}
	switch u := types.Unalias(t).(type) {
	case *types.TypeParam:
		return
	case *types.Pointer:
		f.Say(id, "%s[%s] %s: a resource is stored by value: write p := vast.SetResource(w, %s{…}) and "+
			"keep p, or store a struct that holds the pointer", fn.Name(), name(t), effect, name(u.Elem()))
		return
	}
	if types.IsInterface(t) {
		f.Say(id, "%s[%s] %s: a resource is stored under the type of its value: store the value itself, or "+
			"a struct that holds the interface", fn.Name(), name(t), effect)
	}
}
