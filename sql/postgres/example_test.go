package postgres_test

import (
	"context"
	"fmt"
	"log"

	"github.com/jackc/pgx/v5"
	"github.com/ncruces/go-sqlite3/driver"
	_ "github.com/ncruces/go-sqlite3/vfs/memdb"
	"github.com/vastgo/vast/sql/postgres"
)

func Example() {
	db, err := driver.Open("file:/postgres-example?vfs=memdb")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec(`CREATE TABLE name(entity INTEGER, name TEXT); INSERT INTO name VALUES (1, 'Ada')`)
	if err != nil {
		log.Fatal(err)
	}
	server, err := postgres.Listen("localhost:0", db, postgres.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	ctx := context.Background()
	client, err := pgx.Connect(ctx, fmt.Sprintf("postgres://user@%s/main", server.Addr()))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	var name string
	if err := client.QueryRow(ctx, "SELECT name FROM name WHERE entity = $1", 1).Scan(&name); err != nil {
		log.Fatal(err)
	}
	fmt.Println(name)
	// Output: Ada
}
