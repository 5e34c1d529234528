package declared

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/vastgo/vast/cmd/vastvet/internal/lib"
)

// queues maps a method of event.Queue or sched.Jobs to a field of sched.System. A system that calls the
// method must declare the queue or the Jobs in this field.
var queues = map[string]string{"All": "ReadsResources", "Len": "ReadsResources", "Of": "ReadsResources",
	"Send": "WritesResources", "SendTo": "WritesResources",
	"Start": "WritesResources", "Results": "WritesResources"}

// queue reports a call of a method of a queue or Jobs that the system does not declare. It reports nothing if
// the queue or Jobs may be the same as a declared resource, or if the declared resources are unknown.
func (s *system) queue(call *ast.CallExpr, method string) {
	field, ok := queues[method]
	q := lib.Receiver(call)
	if !ok || q == nil || len(call.Args) == 0 || s.TypesInfo.Types[call.Args[0]].IsNil() {
		return
	}
	key := s.key(q)
	if x, ok := key.(*types.Var); key == nil || ok && s.values.Parameter(x) && !s.around(x) {
		return
	}
	declared, ok := s.resources(field)
	if !ok || s.declares(declared, q, key) || slices.Contains(s.foundQueues, foundQueue{key, field}) {
		return
	}
	s.foundQueues = append(s.foundQueues, foundQueue{key, field})
	text := types.ExprString(q)
	s.Say(call, "%s calls %s of %s and does not declare it, and the call panics: "+
		"add sched.Resources(%s) to %s", s.name, method, text, text, field)
}

var haveResource = map[string]bool{"event.Queue": true, "sched.Jobs": true}

// foundQueue is a reported queue, or reported Jobs.
type foundQueue struct {
	key   any
	field string
}

// resources returns the queues and Jobs in a field of the literal. ok reports whether all resources are
// known.
func (s *system) resources(field string) (declared []ast.Expr, ok bool) {
	kv := s.fields[field]
	if kv == nil || s.TypesInfo.Types[kv.Value].IsNil() {
		return nil, true
	}
	list, ok := s.values.Only(kv.Value).Expr.(*ast.CallExpr)
	if !ok || lib.Callee(s.TypesInfo, list) != "sched.Resources" || list.Ellipsis.IsValid() {
		return nil, false
	}
	for _, one := range list.Args {
		if haveResource[lib.TypeName(s.TypesInfo.TypeOf(one))] {
			declared = append(declared, one)
			continue
		}
		call, ok := ast.Unparen(s.values.Only(one).Expr).(*ast.CallExpr)
		if !ok {
			return nil, false
		}
		of, last := lib.Split(lib.Callee(s.TypesInfo, call))
		switch {
		case haveResource[of] && last == "Resource" && lib.Receiver(call) != nil:
			declared = append(declared, lib.Receiver(call))
		case of != "sched" || last != "ResourceOf":
			return nil, false
		}
	}
	return declared, true
}
