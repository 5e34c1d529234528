package bulk_test

import (
	"fmt"
	"log"

	"github.com/vastgo/vast/bulk"
)

func ExampleTable() {
	// Any other layout gives the same output.
	t := bulk.NewTable(bulk.TableOptions{Layout: bulk.LayoutColumns, Capacity: 1_000_000})
	defer t.Close()
	height := bulk.NewField[float32](t, "height")
	speed := bulk.NewField[float32](t, "speed")

	for i := range 5 {
		row := t.Append()
		*height.At(row), *speed.At(row) = float32(10*i), float32(i)
	}
	for block := range t.Blocks() {
		h, v := height.Slice(block), speed.Slice(block)
		for i := range h {
			h[i] += v[i]
		}
	}
	moved := t.RemoveSwap(1)
	fmt.Println("row", moved, "is row 1 now; its height is", *height.At(1))
	fmt.Println("number of rows:", t.Len())
	// Output:
	// row 4 is row 1 now; its height is 44
	// number of rows: 4
}

func ExampleField_Safe() {
	t := bulk.NewTable(bulk.TableOptions{Layout: bulk.LayoutBlocks8, Capacity: 1_000_000})
	defer t.Close()
	mass := bulk.NewField[float32](t, "mass").Safe(1)
	if _, err := t.AppendN(3); err != nil {
		log.Fatal(err)
	}
	for row := range t.Len() {
		*mass.At(row) = 4
	}
	for block := range t.PaddedBlocks() {
		m := mass.Slice(block) // always eight elements, as vector code needs
		for i := range m {
			m[i] = 1 / m[i]
		}
		fmt.Println(block.Len(), "rows:", m)
	}
	// Output:
	// 3 rows: [0.25 0.25 0.25 1 1 1 1 1]
}

func ExampleTranspose() {
	ships, err := bulk.NewPool[ship](bulk.Options{Capacity: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	defer ships.Close()
	for i := range 4 {
		ships.Insert(ship{X: float32(i), Y: 1})
	}

	t := bulk.NewTranspose[ship](bulk.TransposeOptions{})
	x := bulk.ColumnOf(t, func(s *ship) *float32 { return &s.X })
	y := bulk.InputOf(t, func(s *ship) *float32 { return &s.Y })
	for range t.Pool(ships) {
		x, y := x.Slice(), y.Slice()
		for i := range x {
			x[i] += 10 * y[i]
		}
	}
	for _, s := range ships.All() {
		fmt.Print(s.X, " ")
	}
	// Output:
	// 10 11 12 13
}
