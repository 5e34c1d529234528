package group

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
)

// engine holds the methods of package vast that this package calls.
var engine = state.Vast.(interface {
	Keep(method string, q vast.Query) (vast.Query, func())
})

// Group keeps the matches of a query as bits. Make a Group with [New].
type Group struct {
	query vast.Query
	close func()
}

// New makes a group of a query. The query must ask for at least one component. It may have conditions of
// vast.Query.Without, Any and Optional, and values of shared.Column.Where. New panics for other conditions,
// and for conditions with a vast.Disabled: add them to [Group.Query]. New also panics for the zero Query, for
// a query of a group, if the world is closed, and in a hook. If New gets no memory, it panics with a
// *vm.Error and changes nothing. New counts as a structural change, so a loop that calls New panics at its
// next step.
//
// Complexity: the first loop tests the conditions of all entities.
func New(q vast.Query) *Group {
	made, closeGroup := engine.Keep("group.New", q)
	return &Group{made, closeGroup}
}

// Query returns a query with the same matches as the query given to [New]. Loops over the returned query read
// the kept bits. All methods of [vast.Query] work, and further conditions can be added. Methods that change
// the matches, such as [vast.World.DeleteAll], test the conditions of the query and do not read the bits.
//
// A loop sees the values of shared columns as they are when the loop begins. If the loop gives entities other
// values, the loop may yield an entity that no longer matches, and may yield or pass over an entity that
// matches now.
//
// The query panics if it runs after [Group.Close].
func (g *Group) Query() vast.Query {
	g.mustBeMade("Query")
	return g.query
}

// Close stops the group and releases its memory. Close counts as a structural change. A second Close does
// nothing. vast.World.Close closes all groups of the world.
func (g *Group) Close() {
	g.mustBeMade("Close")
	g.close()
}

func (g *Group) mustBeMade(method string) {
	if g == nil || g.close == nil {
		panic("group: Group." + method + ": there is no group: make one with group.New")
	}
}
