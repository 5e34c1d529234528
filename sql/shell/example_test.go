package shell_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/vastgo/vast/sql/shell"
)

func Example() {
	db, err := driver.Open(":memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	o := shell.Options{Format: shell.Table, Statement: `
CREATE TABLE town (name TEXT, people INTEGER);
INSERT INTO town VALUES ('Roma', 2700000), ('Quito', 1600000), ('Atlantis', NULL);
SELECT * FROM town ORDER BY name`}
	status := shell.Run(context.Background(), db, o, os.Stdin, os.Stdout, os.Stderr)
	fmt.Println("exit status", status)
	// Output:
	// name       people
	// Atlantis     NULL
	// Quito     1600000
	// Roma      2700000
	// exit status 0
}
