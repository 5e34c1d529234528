package inspect

import (
	"fmt"
	"net/http"
	"reflect"
	"runtime/debug"
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

// maxFields is how many fields of a component are told of.
const maxFields = 256

// model is what does not change about a world's columns, read once for each.
type model struct {
	mu      sync.Mutex
	columns []column
}

// column is a column as the page sees it.
type column struct {
	ID       int     `json:"id"`
	Name     string  `json:"name"`
	Type     string  `json:"type"` // of an element; empty for a tag
	Storage  string  `json:"storage"`
	Size     int     `json:"size"`     // bytes of an element
	Relation bool    `json:"relation"` // whether the value is the one target of a relation
	Edges    bool    `json:"edges"`    // whether it stands for edges
	Fields   []field `json:"fields"`

	col  vast.AnyColumn
	info vast.ColumnInfo
}

// field is a value within a component that is no struct or array of others.
type field struct {
	Path string `json:"path"` // such as At.X or Items[2]; empty where the component is one value
	Type string `json:"type"`
	Kind string `json:"kind"` // float, int, uint, bool, string, entity, enum or other

	offset int // bytes from the start of the component
	typ    reflect.Type
}

// look brings the model up to date and returns the columns, in the order of their making. It is called while the world lets
// the inspector look. What it returns is not to be changed, and may be kept.
func (m *model) look(w *vast.World) []column {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := w.Columns()
	for _, col := range all[len(m.columns):] {
		info := vast.Describe(col)
		c := column{ID: info.ID, Name: info.Name, Storage: info.Storage.String(), Fields: []field{}, col: col, info: info}
		if info.Type != nil {
			c.Type, c.Size = info.Type.String(), info.Layout.Size
		}
		c.Relation = info.Linked != "" && info.Type == entityType
		c.Edges = info.Linked != "" && !c.Relation
		if info.Type != nil && info.Linked == "" {
			c.addFields(info.Layout, "", 0)
		}
		m.columns = append(m.columns, c)
	}
	return m.columns
}

var entityType = reflect.TypeFor[vast.Entity]()

func (c *column) addFields(l vast.Layout, path string, offset int) {
	kind := kindOf(l.Type)
	switch {
	case len(c.Fields) == maxFields:
	case kind == "" && l.Type.Kind() == reflect.Struct:
		for _, part := range l.Parts {
			below := part.Name
			if path != "" {
				below = path + "." + part.Name
			}
			c.addFields(part, below, offset+part.Offset)
		}
	case kind == "" && l.Type.Kind() == reflect.Array:
		for i := 0; i < l.Count && len(c.Fields) < maxFields; i++ {
			c.addFields(l.Parts[0], fmt.Sprintf("%s[%d]", path, i), offset+i*l.Parts[0].Size)
		}
	default:
		if kind == "" {
			kind = "other"
		}
		c.Fields = append(c.Fields, field{path, l.Type.String(), kind, offset, l.Type})
	}
}

var stringerType = reflect.TypeFor[fmt.Stringer]()

// kindOf says how a value of a type is shown; empty for those that have parts, and those that cannot be shown.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if t.Implements(stringerType) {
			return "enum"
		}
		return "int"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if t.Implements(stringerType) {
			return "enum"
		}
		return "uint"
	case reflect.Float32, reflect.Float64:
		return "float"
	case reflect.String:
		return "string"
	}
	if t == entityType {
		return "entity"
	}
	return ""
}

// worldAnswer describes the world and the server.
type worldAnswer struct {
	Name         string     `json:"name"`
	Version      string     `json:"version"`
	API          int        `json:"api"`
	ReadOnly     bool       `json:"readOnly"`
	TokenNeeded  bool       `json:"tokenNeeded"` // also for reading
	PageSize     int        `json:"pageSize"`
	HugePageSize int        `json:"hugePageSize"` // 0: none
	MaxEntities  int        `json:"maxEntities"`
	Columns      []column   `json:"columns"`
	Views        []viewName `json:"views"`
	Attribution  []string   `json:"attribution"`
}

func (in *Inspector) worldRoutes() []route {
	return []route{{method: "GET", pattern: "world", answer: in.describeWorld}}
}

func (in *Inspector) describeWorld(r *http.Request) (any, error) {
	a := worldAnswer{
		Version: version(), API: 1, ReadOnly: !in.options.ReadWrite, TokenNeeded: in.guard.tokenForReading,
		PageSize: vm.PageSize(), HugePageSize: vm.HugePageSize(), Attribution: append([]string{}, in.options.Attribution...),
		Columns: []column{}, Views: in.gallery.names(),
	}
	err := in.look(r.Context(), func() bool {
		o := in.world.Options()
		a.Name, a.MaxEntities = o.Name, o.MaxEntities
		for _, c := range in.model.look(in.world) {
			if !c.info.Private {
				a.Columns = append(a.Columns, c)
			}
		}
		return true
	})
	return a, err
}

// version is that of the module, as the program was built with it.
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
