package vastarrow_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/vastgo/vast"
	vastarrow "github.com/vastgo/vast/arrow"
)

type Position struct{ X, Y float64 }

type Health int32

// A record shares the numbers of the world with the functions of Arrow.
func ExampleRecords() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	health := vast.NewColumn[Health](w)
	for i, s := range w.Archetype(health).NewEach(1000) {
		*health.At(s) = Health(i)
	}
	sum := 0
	for _, r := range vastarrow.Records(w.Query(health), health) {
		for _, v := range r.Column(0).(*array.Int32).Values() {
			sum += int(v)
		}
		r.Release()
	}
	fmt.Println(sum)
	// Output: 499500
}

func ExampleWrite() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, hurt := vast.NewColumn[Position](w).Named("Position"), vast.NewTag(w, "Hurt")
	for i, s := range w.Archetype(pos).NewEach(3) {
		*pos.At(s) = Position{float64(i), 0.5}
	}
	if e, ok := w.Query(pos).First(); ok {
		hurt.Add(e)
	}
	source, err := vastarrow.Entities(w.Query(pos), pos, hurt)
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := vastarrow.Write(context.Background(), &file, vastarrow.CSV, source); err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(file.String()) {
		_, line, _ = strings.Cut(line, ",") // without the ID
		fmt.Print(line)
	}
	// Output:
	// position.x,position.y,hurt
	// 0,0.5,true
	// 1,0.5,false
	// 2,0.5,false
}

func ExampleRead() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, health := vast.NewColumn[Position](w).Named("Position"), vast.NewColumn[Health](w).Named("Health")
	file := strings.NewReader(`Position.X,Position.Y,Health,Color
1,2,100,red
3,4,1e12,blue
5,6,,green
`)
	report, err := vastarrow.Read(context.Background(), w, file, vastarrow.CSV, vastarrow.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Entities, "entities,", w.Query(pos, health).Count(), "with health")
	fmt.Println("unknown:", report.Unknown)
	for _, p := range report.Problems {
		fmt.Println(p)
	}
	// Output:
	// 3 entities, 2 with health
	// unknown: [Color]
	// row 1, column health: 1000000000000 is out of the range of int32
}
