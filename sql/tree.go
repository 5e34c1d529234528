package vastsql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// tree is the copy of a relation for the functions that follow its links.
type tree struct {
	*image
	depths []int32 // depth of the source in each row, 0 if unknown, or onPath; nil before a call of depth
}

// onPath marks the rows on the path that depth follows. A path that reaches such a row again is a circle.
const onPath = -1

// The columns of the table of a relation.
const (
	columnSource = iota
	columnTarget
)

// isTreeFunction reports whether an SQL function follows links.
func isTreeFunction(name string) bool {
	return strings.EqualFold(name, "parent") || strings.EqualFold(name, "depth")
}

// registerTree adds the functions parent(entity, relation) and depth(entity, relation), and the table
// descendants(entity, relation). If the world has only one relation, the argument relation may be left out.
func (s *session) registerTree(db *sqlite3.Conn) error {
	const flags = sqlite3.DETERMINISTIC | sqlite3.INNOCUOUS
	parent := s.treeFunction(func(ctx sqlite3.Context, t *tree, id int64) error {
		if e, ok := t.parent(id); ok {
			ctx.ResultInt64(int64(e.ID()))
		} else {
			ctx.ResultNull()
		}
		return nil
	})
	depth := s.treeFunction(func(ctx sqlite3.Context, t *tree, id int64) error {
		n, err := t.depth(id)
		ctx.ResultInt64(n)
		return err
	})
	for n := 1; n <= 2; n++ {
		err := errors.Join(db.CreateFunction("parent", n, flags, parent),
			db.CreateFunction("depth", n, flags, depth))
		if err != nil {
			return err
		}
	}
	connect := func(*sqlite3.Conn, string, string, string, ...string) (*descendants, error) {
		return &descendants{s}, db.DeclareVTab("CREATE TABLE t(entity INTEGER, depth INTEGER, " +
			"ancestor INTEGER HIDDEN, relation TEXT HIDDEN)")
	}
	//lint:ignore SA1019 the function that replaces it needs Go 1.27
	return sqlite3.CreateModule(db, "descendants", nil, connect)
}

// treeFunction returns an SQL function that calls f with the tree and the entity of its arguments. If an
// argument is NULL, the function returns NULL and does not call f.
func (s *session) treeFunction(f func(sqlite3.Context, *tree, int64) error) sqlite3.ScalarFunction {
	return func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if anyNull(arg) {
			ctx.ResultNull()
			return
		}
		t, err := s.tree(arg[1:])
		if err == nil {
			id, _ := idOf(arg[0]) // 0 is the ID of no entity
			err = f(ctx, t, id)
		}
		if err != nil {
			ctx.ResultError(err)
		}
	}
}

// needRelations records that the statement in preparation follows the links of the relations that its text
// names in quotes. If the text names none, the statement follows the links of all relations.
func (s *session) needRelations() {
	text := strings.ToLower(s.text)
	all := s.schema.relations()
	found := false
	for _, t := range all {
		if strings.Contains(text, "'"+strings.ToLower(t.name)+"'") {
			found = true
			s.need(t, needLinks)
		}
	}
	if !found {
		for _, t := range all {
			s.need(t, needLinks)
		}
	}
}

// needLinks is the part of a relation's table that functions use to follow links.
var needLinks = need{parts: 1, gens: true, links: true}

// relations returns the tables of relations.
func (s *schema) relations() (all []*table) {
	for _, t := range s.tables {
		if t.isRelation() {
			all = append(all, t)
		}
	}
	return all
}

func (t *table) isRelation() bool {
	if t.column == nil {
		return false
	}
	_, ok := probe.RelationOf(t.column)
	return ok
}

// tree returns the tree of the relation that arg[0] names. If arg is empty, tree returns the tree of the
// world's only relation.
func (s *session) tree(arg []sqlite3.Value) (*tree, error) {
	name := ""
	if len(arg) > 0 {
		name = arg[0].Text()
	}
	if s.moment != nil {
		if t := s.moment.trees[name]; t != nil {
			return t, nil
		}
	}
	t, err := s.relation(name)
	if err != nil {
		return nil, err
	}
	if !s.needs[t].links {
		return nil, fmt.Errorf("vastsql: write the name of the relation as text: '%s'", t.name)
	}
	m, err := s.image(t, -1, 0)
	if err != nil {
		return nil, err
	}
	if s.moment.trees == nil {
		s.moment.trees = map[string]*tree{}
	}
	made := &tree{image: m}
	s.moment.trees[name] = made
	return made, nil
}

// relation returns the table of the relation with a name. If name is empty, relation returns the table of the
// world's only relation.
func (s *session) relation(name string) (*table, error) {
	if t := s.schema.find(name); t != nil && t.isRelation() {
		return t, nil
	}
	all := s.schema.relations()
	if name == "" && len(all) == 1 {
		return all[0], nil
	}
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = "'" + t.name + "'"
	}
	switch {
	case len(all) == 0:
		return nil, errors.New("vastsql: the world has no relation")
	case name == "":
		return nil, fmt.Errorf("vastsql: the world has several relations: name one of %s after the entity",
			strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("vastsql: the world has no relation %q: name one of %s", name,
		strings.Join(names, ", "))
}

// parent returns the target of an entity, and whether there is one.
func (t *tree) parent(id int64) (e vast.Entity, ok bool) {
	_, row, ok := t.find(id)
	if !ok {
		return e, false
	}
	return t.target(row), true
}

func (t *tree) target(row int) vast.Entity {
	return *(*vast.Entity)(t.at(&t.table.fields[columnTarget], row))
}

// depth returns the number of ancestors of an entity.
func (t *tree) depth(id int64) (int64, error) {
	if t.depths == nil {
		t.depths = make([]int32, t.rows)
	}
	var path []int
	base := int32(0) // depth of the entity that follows the last row on the path
	for {
		_, row, ok := t.find(id)
		if !ok {
			break
		}
		if t.depths[row] == onPath {
			for _, r := range path {
				t.depths[r] = 0
			}
			return 0, t.circleError(id)
		}
		if base = t.depths[row]; base > 0 {
			break
		}
		t.depths[row] = onPath
		path = append(path, row)
		id = int64(t.target(row).ID())
	}
	for i := len(path) - 1; i >= 0; i-- {
		base++
		t.depths[path[i]] = base
	}
	return int64(base), nil
}

// circleError says that the links lead from an entity back to it.
func (t *tree) circleError(id int64) error {
	return fmt.Errorf("vastsql: the links of relation %s lead from entity %d back to it, so it has no depth "+
		"and no descendants", t.table.name, id)
}
