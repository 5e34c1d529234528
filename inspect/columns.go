package inspect

import (
	"maps"
	"net/http"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

// maxFields bounds the number of listed fields of a component.
const maxFields = 256

// worldFields bounds the number of fields in a worldAnswer. Each component has an equal share of this number,
// but at least one field.
const worldFields = 1 << 14

// model caches descriptions of the world's columns. These descriptions never change.
type model struct {
	mu      sync.Mutex
	columns []column
}

// column describes a column.
type column struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Type     string `json:"type"` // type of an element; empty for a tag
	Storage  string `json:"storage"`
	Size     int    `json:"size"`     // size of an element, in bytes
	Relation bool   `json:"relation"` // whether the column holds the targets of a relation
	Edges    bool   `json:"edges"`    // whether the column holds edges

	// These three fields are set only in a worldAnswer.
	Fields []field `json:"fields"`
	Label  string  `json:"label"` // name in lists of entities; unique among all columns
	Text   string  `json:"text"`  // name in queries; unique among all columns

	col  vast.AnyColumn
	info probe.ColumnInfo
}

// read adds the columns that the model lacks. It stops after lookTime, because a world may have hundreds of
// columns. It reports whether the model has all columns. [Inspector.look] calls read first in each visit of
// the world.
func (m *model) read(w *vast.World) (done bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	begun := time.Now()
	for _, col := range probe.Columns(w)[len(m.columns):] {
		if time.Since(begun) > lookTime {
			return false
		}
		m.columns = append(m.columns, columnOf(col))
	}
	return true
}

func columnOf(col vast.AnyColumn) column {
	info := probe.Describe(col)
	c := column{ID: info.ID, Name: info.Name, Storage: info.Storage.String(), col: col, info: info}
	if info.Type != nil {
		c.Type, c.Size = info.Type.String(), int(info.Type.Size())
	}
	c.Relation = info.Linked != "" && info.Type == entityType
	c.Edges = info.Linked != "" && !c.Relation
	return c
}

// fields returns the fields of a component, at most maxFields. It returns no fields for a column of a
// relation or of edges. Do not call fields during a visit of the world, because the first call for a type may
// take long.
func (c *column) fields() []field {
	if c.info.Type == nil || c.info.Linked != "" {
		return []field{}
	}
	return fieldsIn(c.info.Type)
}

// look returns the columns of the model, the oldest first. The caller may keep the result, but must not
// change it.
func (m *model) look() []column {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.columns
}

var entityType = reflect.TypeFor[vast.Entity]()

// worldAnswer describes the world and the server.
type worldAnswer struct {
	Name         string     `json:"name"`
	Version      string     `json:"version"`
	API          int        `json:"api"`
	ReadOnly     bool       `json:"readOnly"`
	TokenNeeded  bool       `json:"tokenNeeded"` // whether reading, too, needs the token
	PageSize     int        `json:"pageSize"`
	HugePageSize int        `json:"hugePageSize"` // 0 if the system has no huge pages
	MaxEntities  int        `json:"maxEntities"`
	Columns      []column   `json:"columns"`
	Views        []viewName `json:"views"`
	SQL          bool       `json:"sql"`      // whether the server answers SQL statements
	Handlers     []string   `json:"handlers"` // names of the program's own paths below /api/v1/
	Attribution  []string   `json:"attribution"`
}

func (in *Inspector) worldRoutes() []route {
	return []route{{method: "GET", pattern: "world", answer: in.describeWorld}}
}

func (in *Inspector) describeWorld(r *http.Request) (any, error) {
	a := worldAnswer{
		Version: version(), API: 1, ReadOnly: !in.options.ReadWrite, TokenNeeded: in.guard.tokenForReading,
		PageSize: vm.PageSize(), HugePageSize: vm.HugePageSize(),
		Attribution: append([]string{}, in.options.Attribution...),
		Columns:     []column{}, Views: in.views.names(), SQL: in.options.SQL != nil,
		Handlers: append([]string{}, slices.Sorted(maps.Keys(in.options.Handlers))...),
	}
	var all []column
	err := in.look(r.Context(), func() bool {
		o := in.world.Options()
		a.Name, a.MaxEntities = o.Name, o.MaxEntities
		all = in.model.look()
		return true
	})
	schema := in.asked.schemaOf(all)
	most := worldFields / max(len(all), 1)
	for i, c := range all {
		if c.info.Private {
			continue
		}
		c.Label, c.Text = schema.Columns[i].Label(), schema.Columns[i].Text()
		c.Fields = c.fields()
		c.Fields = c.Fields[:min(len(c.Fields), max(most, 1))]
		a.Columns = append(a.Columns, c)
	}
	return a, err
}

// version returns the module's version in the program's build information.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	const path = "github.com/vastgo/vast"
	if info.Main.Path == path {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "unknown"
}
