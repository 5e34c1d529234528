package kernel_test

import (
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/kernel"
)

type Position struct{ X, Y, Z float32 }
type Velocity struct{ X, Y, Z float32 }

func Example() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, vel := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	for i, s := range w.Archetype(pos, vel).NewEach(1000) {
		*pos.At(s), *vel.At(s) = Position{X: float32(i)}, Velocity{1, 2, 3}
	}

	positions := kernel.NewView[Position, float32]()
	velocities := kernel.NewView[Velocity, float32]()
	moving := w.Query(pos, vel)
	for run := range moving.Runs() {
		p, v := positions.Slice(pos.Slice(run)), velocities.Slice(vel.Slice(run))
		kernel.AddScaled(p, p, v, 0.5)
	}
	last := Position{}
	for s := range moving.Slots() {
		last = *pos.At(s)
	}
	fmt.Println(last)
	// Output: {999.5 1 1.5}
}

func ExampleScale() {
	t := bulk.NewTable(bulk.TableOptions{Capacity: 1_000_000})
	defer t.Close()
	speed := bulk.NewField[float64](t, "speed")
	if _, err := t.AppendN(3); err != nil {
		panic(err)
	}
	for row := range t.Len() {
		*speed.At(row) = float64(row)
	}
	for block := range t.Blocks() {
		v := speed.Slice(block)
		kernel.Scale(v, v, 0.5)
		fmt.Println(v)
	}
	// Output: [0 0.5 1]
}

func ExampleAdd() {
	sums := make([]int32, 3)
	kernel.Add(sums, []int32{1, 2, 3}, []int32{10, 20, 30})
	fmt.Println(sums)
	// Output: [11 22 33]
}

func ExampleSub() {
	left := []float32{5, 5, 5}
	kernel.Sub(left, left, []float32{1, 2, 3})
	fmt.Println(left)
	// Output: [4 3 2]
}

func ExampleMul() {
	forces := make([]float64, 3)
	kernel.Mul(forces, []float64{2, 3, 4}, []float64{9.5, 9.5, 9.5})
	fmt.Println(forces)
	// Output: [19 28.5 38]
}

func ExampleAddScaled() {
	positions, velocities := []float32{0, 10, 20}, []float32{1, -1, 4}
	kernel.AddScaled(positions, positions, velocities, 0.25)
	fmt.Println(positions)
	// Output: [0.25 9.75 21]
}

func ExampleMin() {
	health, limits := []int32{90, 110, 130}, []int32{100, 100, 150}
	kernel.Min(health, health, limits)
	fmt.Println(health)
	// Output: [90 100 130]
}

func ExampleMax() {
	health, zeros := []int32{90, -5, 0}, []int32{0, 0, 0}
	kernel.Max(health, health, zeros)
	fmt.Println(health)
	// Output: [90 0 0]
}

func ExampleView() {
	type Meters float64
	type Box struct{ Low, High [2]Meters }
	boxes := []Box{{Low: [2]Meters{0, 1}, High: [2]Meters{2, 3}}, {High: [2]Meters{8, 9}}}
	numbers := kernel.NewView[Box, float64]().Slice(boxes)
	kernel.Scale(numbers, numbers, 10)
	fmt.Println(numbers)
	fmt.Println(boxes[1].High)
	// Output:
	// [0 10 20 30 0 0 80 90]
	// [80 90]
}
