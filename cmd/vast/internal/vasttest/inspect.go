package vasttest

import (
	"context"
	"database/sql"
	"net/http"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect"
	"github.com/vastgo/vast/sched"
	vastsql "github.com/vastgo/vast/sql"
)

// Inspect runs a world with an inspector that answers SQL, and returns the URL of the inspector. If handlers
// is not nil, it returns further handlers for the inspector. At the end of the test, Inspect closes the
// world.
func Inspect(t *testing.T, w *vast.World, handlers func(*sql.DB) map[string]http.Handler,
	systems ...sched.System,
) (url string) {
	t.Helper()
	s := sched.New(w, sched.Options{Workers: 1, Rate: 100})
	for _, system := range systems {
		s.Add(system)
	}
	db, err := vastsql.Open(w, vastsql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := inspect.Options{SQL: db}
	if handlers != nil {
		o.Handlers = handlers(db)
	}
	ctx, cancel := context.WithCancel(context.Background())
	in, err := inspect.Serve(ctx, w, o)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		in.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.Close()
		w.Close()
	})
	return in.URL()
}
