package vastsql_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/vastgo/vast"
	vastsql "github.com/vastgo/vast/sql"
)

type Ship struct {
	Speed float32
	Crew  int32
}

// A program allows statements to write. The owner of the world applies each statement as a whole, between two
// ticks.
func Example_write() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	vast.NewColumn[Ship](w)
	vast.NewTag(w, "Docked")

	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		w.Idle(func() { <-stop }) // a program calls Idle or Admit between its ticks
	}()
	defer func() {
		close(stop)
		<-stopped
	}()

	db, err := vastsql.Open(w, vastsql.Options{Write: true})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{
		"INSERT INTO ship(speed, crew) VALUES (12.5, 3), (8, 20), (0, 7)",
		"UPDATE ship SET crew = crew + 1, speed = speed / 2 WHERE speed > 10",
		"INSERT INTO docked SELECT entity FROM ship WHERE speed = 0",
		"DELETE FROM entities WHERE entity IN (SELECT entity FROM ship WHERE crew = 20)",
		"UPDATE ship SET crew = 3000000000", // out of range for an int32
	} {
		result, err := db.Exec(text)
		if refused, ok := errors.AsType[*vastsql.WriteError](err); ok {
			fmt.Println("row", refused.Row, "is refused:", refused.Detail)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		rows, _ := result.RowsAffected()
		fmt.Println(rows, "rows")
	}
	var speed float64
	var crew, docked int
	row := db.QueryRow("SELECT sum(speed), sum(crew), (SELECT count(*) FROM docked) FROM ship")
	if err := row.Scan(&speed, &crew, &docked); err != nil {
		log.Fatal(err)
	}
	fmt.Println(speed, crew, docked)
	// Output:
	// 3 rows
	// 1 rows
	// 1 rows
	// 1 rows
	// row 1 is refused: crew holds -2147483648 to 2147483647, not 3000000000
	// 6.25 11 1
}
