package bulk_test

import (
	"fmt"
	"log"

	"github.com/vastgo/vast/bulk"
)

// part is a node of a tree. The list of its children's handles lies in another container.
type part struct {
	Weight   int
	Children bulk.List[bulk.Handle[part]]
}

func ExampleLists() {
	parts, err := bulk.NewPool[part](bulk.Options{Capacity: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	defer parts.Close()
	children, err := bulk.NewLists[bulk.Handle[part]](bulk.Options{Capacity: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	defer children.Close()

	_, ship := parts.Insert(part{Weight: 1000})
	for _, weight := range []int{200, 30, 4} {
		child, _ := parts.Insert(part{Weight: weight})
		children.Append(&ship.Children, child)
	}
	children.Remove(ship.Children, 1) // the other children keep their order

	total := ship.Weight
	for _, child := range children.Slice(ship.Children) {
		total += parts.Get(child).Weight
	}
	fmt.Println(len(children.Slice(ship.Children)), "children; total weight", total)

	// Compact moves lists and writes their new places to the owners.
	owners := func(yield func(*bulk.List[bulk.Handle[part]]) bool) {
		for _, p := range parts.All() {
			if !yield(&p.Children) {
				return
			}
		}
	}
	if err := children.Compact(owners); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(children.Slice(ship.Children)), "children after Compact")

	kept := ship.Children
	children.Free(&ship.Children)
	fmt.Println(len(children.Slice(ship.Children)), "children; the copy of the list is valid:",
		children.Valid(kept))
	// Output:
	// 2 children; total weight 1204
	// 2 children after Compact
	// 0 children; the copy of the list is valid: false
}
