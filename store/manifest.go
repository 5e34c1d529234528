package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/mapped"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
)

// The versions of the file format. A reader refuses a file of any other version.
const (
	versionWhole = 1 // all of a world
	versionDelta = 2 // the changes since another checkpoint
	// versionPlaced is the version of a complete file or a delta that may have padding: see mapped.go.
	versionPlaced = 3
)

// manifest is the description of a saved world. The extents, the elements of arrays and the values lie in
// other blocks of the file.
type manifest struct {
	Mark       uint32              `json:"mark"`
	Alignment  int                 `json:"alignment"`
	Words      int                 `json:"words"`
	Used       int                 `json:"used"`
	Extents    int                 `json:"extents"` // number of extents in the second block of the file
	Columns    []columnManifest    `json:"columns"`
	Archetypes [][]int             `json:"archetypes"`
	Arrays     []arrayManifest     `json:"arrays"`
	Resources  []resourceManifest  `json:"resources,omitempty"`
	Containers []containerManifest `json:"containers,omitempty"`
	Kept       *keptManifest       `json:"kept,omitempty"`
}

// keptManifest holds what only the manifest of a store's checkpoint has.
type keptManifest struct {
	Store    string          `json:"store"`    // the store's identity, 32 hexadecimal digits
	Number   uint64          `json:"number"`   // number of the checkpoint
	Tick     uint64          `json:"tick"`     // number of the last tick
	Segment  uint32          `json:"segment"`  // journal segment that begins at the checkpoint, or 0
	Position uint64          `json:"position"` // position of the first journal record that recovery reads
	Since    uint32          `json:"since"`    // segment of the record at Position: Segment or an earlier one
	Schedule *state.Schedule `json:"schedule,omitempty"`
	// Moment is a random number, 16 hexadecimal digits. It distinguishes checkpoints with the same Number,
	// which two copies of a folder can have.
	Moment string `json:"moment,omitempty"`
	// Taken is the time of the checkpoint by the program's clock, in milliseconds since 1970, UTC.
	Taken int64 `json:"taken,omitempty"`
	// Base is the number of the checkpoint that a delta continues, and BaseMoment is the moment of that
	// checkpoint. Base is 0 in a file that holds the complete world.
	Base       uint64 `json:"base,omitempty"`
	BaseMoment string `json:"baseMoment,omitempty"`
}

type columnManifest struct {
	Name    string `json:"name"`
	Storage string `json:"storage"`
	Linked  string `json:"linked,omitempty"`
	Private bool   `json:"private,omitempty"`
	Names   bool   `json:"names,omitempty"`
	// Cyclic and OnDelete are the options of a relation or edges. Disabled and Disables are the options of a
	// tag. Load keeps the program's options instead.
	Cyclic   bool          `json:"cyclic,omitempty"`
	OnDelete string        `json:"onDelete,omitempty"` // cascade or refuse
	Type     *schema       `json:"type,omitempty"`     // nil for a tag
	Disabled bool          `json:"disabled,omitempty"` // whether the tag is a vast.Disabled
	Disables []int         `json:"disables,omitempty"` // columns whose components the tag switches off
	Slots    int           `json:"slots"`
	Pool     *poolManifest `json:"pool,omitempty"`
	Notes    []int         `json:"notes,omitempty"`
	Whole    bool          `json:"whole,omitempty"` // see arrayManifest
}

type poolManifest struct {
	Slots   int               `json:"slots"`
	Mark    uint32            `json:"mark"`
	Numbers map[string]uint64 `json:"numbers,omitempty"`
}

type arrayManifest struct {
	Kind      string  `json:"kind"`
	Column    int     `json:"column"`              // -1 for an array of the world or of a container
	Container int     `json:"container,omitempty"` // the number of the container, from 1 on
	Number    int     `json:"number,omitempty"`
	Len       int     `json:"len"`
	Type      *schema `json:"type"`
	// Whole is only set in a delta. It says that the delta holds the complete array, so that readers skip the
	// array in earlier files. Without Whole, the delta holds only the changed blocks of the array. For a
	// column or a resource, Whole says that the delta holds the values. Without Whole, the values of an
	// earlier file are valid.
	Whole bool `json:"whole,omitempty"`
	// Skew is the offset of element 0 in its page of memory, in bytes. It is only set for arrays for which
	// manifest.placed returns true.
	Skew int `json:"skew,omitempty"`
}

type containerManifest struct {
	Name    string              `json:"name,omitempty"` // empty for an index of a pool
	Kind    string              `json:"kind"`
	Len     int                 `json:"len,omitempty"`
	Slots   int                 `json:"slots,omitempty"`
	Mark    uint32              `json:"mark,omitempty"`
	Numbers map[string]uint64   `json:"numbers,omitempty"`
	Fields  []string            `json:"fields,omitempty"`
	Indices []containerManifest `json:"indices,omitempty"`
}

type resourceManifest struct {
	Name  string  `json:"name"`
	Type  *schema `json:"type"`
	Whole bool    `json:"whole,omitempty"` // see arrayManifest
}

// storages are the names of the storages in files.
var storages = [...]string{probing.StorageDense: "dense", probing.StorageTag: "tag",
	probing.StorageSparse: "sparse", probing.StorageHeap: "heap",
	probing.StorageShared: "shared"}

// rulesOnDelete are the names of the values of vast.OnDelete in files.
var rulesOnDelete = [...]string{vast.Orphan: "", vast.Cascade: "cascade", vast.Refuse: "refuse"}

// describe returns the manifest of a world's state. It returns an error if two columns have the same name, or
// if the type of a HeapColumn has no schema.
func describe(s *state.World, c codecs) (*manifest, error) {
	m := &manifest{Mark: s.Mark, Alignment: s.Alignment, Words: s.Words, Used: s.Used,
		Extents: len(s.Extents), Archetypes: s.Archetypes}
	known := make(map[string]bool)
	for _, col := range s.Columns {
		if known[col.Name] {
			return nil, fmt.Errorf("two columns have the name %q: give one of them another name with Named",
				col.Name)
		}
		known[col.Name] = true
		one := columnManifest{Name: col.Name, Storage: storages[col.Storage], Linked: col.Linked,
			Private: col.Private, Names: col.Names, Slots: col.Slots, Notes: col.Notes,
			Cyclic: col.Cyclic, OnDelete: rulesOnDelete[col.OnDelete], Disabled: col.Disabled,
			Disables: col.Disables}
		switch {
		case col.Storage == probing.StorageHeap:
			var err error
			if one.Type, err = c.schemaOf(col.Type, col.Name); err != nil {
				return nil, err
			}
		case col.Type != nil:
			one.Type = schemaOf(col.Type)
		}
		if col.Pool != nil {
			one.Pool = &poolManifest{col.Pool.Slots, col.Pool.Mark, col.Pool.Numbers}
		}
		m.Columns = append(m.Columns, one)
	}
	for _, a := range s.Arrays {
		m.Arrays = append(m.Arrays, arrayManifest{Kind: a.Kind, Column: a.Column, Container: a.Container,
			Number: a.Number, Len: a.Len, Type: schemaOf(a.Type)})
	}
	return m, nil
}

// parse decodes a manifest, and checks what other functions rely on.
func parse(text []byte) (*manifest, error) {
	m := new(manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("the description of the world: %w", err)
	}
	if m.Extents < 0 {
		return nil, errors.New("the description of the world has a negative number of extents")
	}
	for _, c := range m.Columns {
		if c.Type != nil {
			if err := c.Type.check(c.Storage == storages[probing.StorageHeap]); err != nil {
				return nil, fmt.Errorf("column %s: %w", c.Name, err)
			}
		}
		if c.Type == nil && c.Storage != storages[probing.StorageTag] {
			return nil, fmt.Errorf("column %s has no type", c.Name)
		}
	}
	for _, a := range m.Arrays {
		if err := a.Type.check(false); err != nil {
			return nil, fmt.Errorf("array %q: %w", a.Kind, err)
		}
		if a.Column < -1 || a.Column >= len(m.Columns) || a.Len < 0 {
			return nil, fmt.Errorf("array %q has %d elements and the column index %d, and the world has %d "+
				"columns", a.Kind, a.Len, a.Column, len(m.Columns))
		}
		if size := a.Type.Size; size > math.MaxInt/64 || a.Len > math.MaxInt/max(size, 1) {
			return nil, fmt.Errorf("array %q has %d elements of %d bytes: no memory has room for them",
				a.Kind, a.Len, size)
		}
		if a.Container < 0 || a.Container > len(m.Containers) || a.Container > 0 && a.Column >= 0 {
			return nil, fmt.Errorf("array %q has the column index %d and the container number %d, and the "+
				"world has %d containers", a.Kind, a.Column, a.Container, len(m.Containers))
		}
		if a.Skew < 0 || a.Skew >= mapped.PageSize {
			return nil, fmt.Errorf("array %q has the skew %d", a.Kind, a.Skew)
		}
	}
	for _, r := range m.Resources {
		if err := r.Type.check(true); err != nil {
			return nil, fmt.Errorf("resource %s: %w", r.Name, err)
		}
	}
	if k := m.Kept; k != nil && k.Base != 0 && k.Base >= k.Number {
		return nil, fmt.Errorf("checkpoint %d cannot continue checkpoint %d, which is not older", k.Number,
			k.Base)
	}
	return m, nil
}

// nameOf returns the name that a resource's type has in files. The name of a type from a package begins with
// the path of the package.
func nameOf(t reflect.Type) string {
	if t.PkgPath() == "" {
		if name := madeName(t, tagResource); name != "" {
			return name
		}
		return t.String()
	}
	return t.PkgPath() + "." + t.Name()
}

func appendManifest(m *manifest) ([]byte, error) { return json.Marshal(m) }

// arrayKey identifies an array of a world. Files of a chain may have the same array at different indices of
// manifest.Arrays, but its key is the same in all files.
type arrayKey struct {
	column, container, kind string
	number                  int
}

func (m *manifest) key(a *arrayManifest) arrayKey {
	k := arrayKey{kind: a.Kind, number: a.Number}
	if a.Column >= 0 {
		k.column = m.Columns[a.Column].Name
	}
	if a.Container > 0 {
		k.container = m.Containers[a.Container-1].Name
	}
	return k
}

// version returns the format version of a file with this manifest.
func (m *manifest) version() uint16 {
	switch {
	case m.Kept != nil && slices.ContainsFunc(m.Arrays, func(a arrayManifest) bool {
		return m.placed(&a) && a.Type.Size > 0 && a.Len >= minPlaced/a.Type.Size
	}):
		return versionPlaced
	case m.delta():
		return versionDelta
	}
	return versionWhole
}

// delta reports whether the file holds only the changes since another checkpoint.
func (m *manifest) delta() bool { return m.Kept != nil && m.Kept.Base != 0 }

// complete returns the manifest of a single file that replaces a chain of files. m is the manifest of the
// last file of the chain.
func (m *manifest) complete() *manifest {
	c := *m
	c.Arrays, c.Columns = slices.Clone(m.Arrays), slices.Clone(m.Columns)
	c.Resources = slices.Clone(m.Resources)
	for i := range c.Arrays {
		c.Arrays[i].Whole = false
	}
	for i := range c.Columns {
		c.Columns[i].Whole = false
	}
	for i := range c.Resources {
		c.Resources[i].Whole = false
	}
	if m.Kept != nil {
		kept := *m.Kept
		kept.Base, kept.BaseMoment = 0, ""
		c.Kept = &kept
	}
	return &c
}
