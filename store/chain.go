package store

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/disk"
)

// chain is the list of files that together hold a checkpoint. The first file holds a whole world. The other
// files are deltas, each of which continues the file before it. The last file has the checkpoint's number.
type chain struct {
	layers []*layer // oldest first
	files  []disk.File
}

// layer is a file of a chain, or the only file of a saved world, that is being read.
type layer struct {
	name string // name of the file in its folder; empty if there is no folder
	r    *blockReader
	m    *manifest
	// arrays, columns and resources map indices in m to indices in the manifest of the chain's last file, or
	// to -1.
	arrays, columns, resources []int
	next                       []uint64 // for each array of a delta: index after its last element read so far
	stage                      *stage   // the copy in memory that is read in place of a file, or nil
	indexed                    *indexed // the layer with a list of its blocks; nil before a merge
}

// openLayer reads the beginning of a file.
func openLayer(src source, name string) (*layer, error) {
	y := &layer{name: name}
	var err error
	if y.r, err = newBlockReader(src); err != nil {
		return nil, err
	}
	b, err := y.r.next()
	if err != nil {
		return nil, err
	}
	if b.kind != blockManifest {
		return nil, errors.New("the file does not begin with the description of the world")
	}
	text, err := y.r.bytes(b)
	if err != nil {
		return nil, err
	}
	if y.m, err = parse(text); err != nil {
		return nil, err
	}
	if y.r.version != versionPlaced && (y.r.version == versionDelta) != y.m.delta() {
		return nil, fmt.Errorf("the file has version %d of the format, which contradicts its description",
			y.r.version)
	}
	y.arrays, y.columns, y.resources = upTo(len(y.m.Arrays)), upTo(len(y.m.Columns)), upTo(len(y.m.Resources))
	y.next = make([]uint64, len(y.arrays))
	return y, nil
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

func openCheckpoint(folder disk.Folder, number uint64) (y *layer, f disk.File, err error) {
	name := checkpointName(number)
	if f, err = folder.Open(name); err != nil {
		return nil, nil, err
	}
	if y, err = openLayer(&places{src: f}, name); err == nil {
		switch k := y.m.Kept; {
		case k == nil:
			err = errors.New("the file is a saved world and no checkpoint: read it with Load")
		case k.Number != number:
			err = fmt.Errorf("the file is checkpoint %d under another name", k.Number)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, errors.Join(err, f.Close()))
	}
	return y, f, nil
}

// openChain opens the files that hold a checkpoint. The caller closes the chain.
func openChain(folder disk.Folder, number uint64) (c *chain, err error) {
	c = new(chain)
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	for {
		y, f, err := openCheckpoint(folder, number)
		if n := len(c.layers); n > 0 {
			newer := c.layers[n-1]
			if errors.Is(err, fs.ErrNotExist) {
				return c, fmt.Errorf("%s is missing, and %s holds only the changes since that checkpoint: %w",
					checkpointName(number), newer.name, err)
			}
			if err == nil {
				c.files = append(c.files, f)
				err = newer.continues(y)
			}
		} else if err == nil {
			c.files = append(c.files, f)
		}
		if err != nil {
			return c, err
		}
		c.layers = append(c.layers, y)
		if number = y.m.Kept.Base; number == 0 {
			slices.Reverse(c.layers)
			return c, c.match()
		}
	}
}

// continues returns an error if the delta y does not continue the checkpoint in base.
func (y *layer) continues(base *layer) error {
	a, b := base.m.Kept, y.m.Kept
	if a.Store != b.Store {
		return fmt.Errorf("%s: the checkpoint belongs to store %s, and %s to store %s", base.name, a.Store,
			y.name, b.Store)
	}
	if a.Moment != b.BaseMoment {
		return fmt.Errorf("%s: the file is not the checkpoint %d that %s continues, but another checkpoint "+
			"with that number", base.name, a.Number, y.name)
	}
	return nil
}

// match finds the arrays, columns and resources of each layer in the manifest of the last layer.
func (c *chain) match() error {
	last := c.layers[len(c.layers)-1].m
	arrays := make(map[arrayKey]int)
	for i := range last.Arrays {
		arrays[last.key(&last.Arrays[i])] = i
	}
	columns, resources := make(map[string]int), make(map[string]int)
	for i, one := range last.Columns {
		columns[one.Name] = i
	}
	for i, one := range last.Resources {
		resources[one.Name] = i
	}
	for _, y := range c.layers {
		if err := y.match(last, arrays, columns, resources); err != nil {
			return fmt.Errorf("%s: %w", y.name, err)
		}
	}
	return nil
}

func (y *layer) match(
	last *manifest, arrays map[arrayKey]int, columns, resources map[string]int,
) (err error) {
	y.arrays, err = find(y.m.Arrays, arrays, y.m.key,
		func(a *arrayManifest) string { return fmt.Sprintf("array %q", a.Kind) },
		func(a *arrayManifest, k int) bool { return a.Type.same(last.Arrays[k].Type) })
	if err != nil {
		return err
	}
	y.columns, err = find(y.m.Columns, columns, func(c *columnManifest) string { return c.Name },
		func(c *columnManifest) string { return "column " + c.Name },
		func(c *columnManifest, k int) bool {
			return c.Storage == last.Columns[k].Storage && c.Type.same(last.Columns[k].Type)
		})
	if err != nil {
		return err
	}
	y.resources, err = find(y.m.Resources, resources, func(r *resourceManifest) string { return r.Name },
		func(r *resourceManifest) string { return "resource " + r.Name },
		func(r *resourceManifest, k int) bool { return r.Type.same(last.Resources[k].Type) })
	return err
}

// find returns, for each part of a manifest, the index of this part in the manifest of the chain's last file,
// or -1 if that manifest lacks the part. indexOf maps keys of parts to these indices. find returns an error
// if two of the found parts have the same key, or if same(part, index) is false: the part has another type or
// another storage in the last manifest.
func find[T any, K comparable](parts []T, indexOf map[K]int, key func(*T) K, name func(*T) string,
	same func(one *T, k int) bool) (found []int, err error) {
	taken := make(map[int]bool, len(parts))
	for i := range parts {
		one := &parts[i]
		k, ok := indexOf[key(one)]
		switch {
		case !ok:
			k = -1
		case taken[k]:
			return nil, fmt.Errorf("the description of the world has %s twice", name(one))
		case !same(one, k):
			return nil, fmt.Errorf("%s is of another type than in a later file", name(one))
		}
		taken[k] = true
		found = append(found, k)
	}
	return found, nil
}

// manifest returns the manifest of the last file, which describes the checkpoint.
func (c *chain) manifest() *manifest { return c.layers[len(c.layers)-1].m }

// read reads the checkpoint into a world: see [Load]. If maps is true, elements may be mapped.
func (c *chain) read(w *vast.World, o Options, maps bool) (*Report, error) {
	return readWorld(w, c.layers, o, maps)
}

// whereFrom returns, for each array, column and resource of the last manifest, the index of the layer with
// which reading begins: the last layer that holds the whole array, column or resource.
func whereFrom(layers []*layer) (arrays, columns, resources []int) {
	last := layers[len(layers)-1].m
	arrays, columns = make([]int, len(last.Arrays)), make([]int, len(last.Columns))
	resources = make([]int, len(last.Resources))
	for n, y := range layers {
		for i, k := range y.arrays {
			if k >= 0 && y.m.Arrays[i].Whole {
				arrays[k] = n
			}
		}
		for i, k := range y.columns {
			if k >= 0 && y.m.Columns[i].Whole {
				columns[k] = n
			}
		}
		for i, k := range y.resources {
			if k >= 0 && y.m.Resources[i].Whole {
				resources[k] = n
			}
		}
	}
	return arrays, columns, resources
}

func (c *chain) close() error {
	var errs []error
	for _, f := range c.files {
		errs = append(errs, f.Close())
	}
	c.files = nil
	return errors.Join(errs...)
}

func storeOf(m *keptManifest) (id [16]byte, err error) {
	digits, err := hex.DecodeString(m.Store)
	if err != nil || len(digits) != len(id) {
		return id, fmt.Errorf("the identity of the store is %q, and not 32 hexadecimal digits", m.Store)
	}
	return [16]byte(digits), nil
}
