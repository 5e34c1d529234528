package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/vastgo/vast/sql/postgres"
)

// A wire sends single messages to a server.
type wire struct {
	*pgproto3.Frontend
	t    *testing.T
	conn net.Conn
	key  *pgproto3.BackendKeyData
}

// dial connects without a password. settings are names and values.
func dial(t *testing.T, s *postgres.Server, settings ...string) *wire {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	w := &wire{Frontend: pgproto3.NewFrontend(conn, conn), t: t, conn: conn}
	parameters := map[string]string{"user": "wire"}
	for i := 0; i < len(settings); i += 2 {
		parameters[settings[i]] = settings[i+1]
	}
	w.send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: parameters})
	for {
		switch message := w.receive().(type) {
		case *pgproto3.BackendKeyData:
			w.key = &pgproto3.BackendKeyData{ProcessID: message.ProcessID, SecretKey: message.SecretKey}
		case *pgproto3.ReadyForQuery:
			return w
		case *pgproto3.ErrorResponse:
			t.Fatalf("%s: %s", message.Code, message.Message)
		}
	}
}

func (w *wire) send(messages ...pgproto3.FrontendMessage) {
	w.t.Helper()
	for _, message := range messages {
		w.Send(message)
	}
	if err := w.Flush(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) receive() pgproto3.BackendMessage {
	w.t.Helper()
	message, err := w.Receive()
	if err != nil {
		w.t.Fatal(err)
	}
	return message
}

// answers returns the kinds of the messages up to ReadyForQuery. For a row it returns the first value, for an
// error the code, for CommandComplete the tag, and for ReadyForQuery the state of the transaction.
func (w *wire) answers() string {
	w.t.Helper()
	var kinds []string
	for {
		switch message := w.receive().(type) {
		case *pgproto3.DataRow:
			kinds = append(kinds, string(message.Values[0]))
		case *pgproto3.ErrorResponse:
			kinds = append(kinds, message.Code)
		case *pgproto3.CommandComplete:
			kinds = append(kinds, string(message.CommandTag))
		case *pgproto3.ReadyForQuery:
			return strings.Join(append(kinds, string(message.TxStatus)), " ")
		default:
			kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", message), "*pgproto3."))
		}
	}
}

// TestPortals executes two portals in turns, a few rows at a time.
func TestPortals(t *testing.T) {
	w := dial(t, listen(t, postgres.Options{}))
	w.send(
		&pgproto3.Query{String: "BEGIN"},
		&pgproto3.Parse{Name: "s",
			Query: "SELECT entity FROM position WHERE entity > $1 ORDER BY entity LIMIT 4"},
		&pgproto3.Bind{PreparedStatement: "s", DestinationPortal: "a", Parameters: [][]byte{[]byte("10")}},
		&pgproto3.Bind{PreparedStatement: "s", DestinationPortal: "b", Parameters: [][]byte{[]byte("20")}},
		&pgproto3.Execute{Portal: "a", MaxRows: 2},
		&pgproto3.Execute{Portal: "b", MaxRows: 3},
		&pgproto3.Sync{},
		&pgproto3.Execute{Portal: "a", MaxRows: 9},
		&pgproto3.Close{ObjectType: 'P', Name: "b"},
		&pgproto3.Execute{Portal: "b"},
		&pgproto3.Execute{Portal: "a"},
		&pgproto3.Sync{},
		&pgproto3.Query{String: "ROLLBACK"},
	)
	for _, want := range []string{
		"BEGIN T",
		"ParseComplete BindComplete BindComplete 11 12 PortalSuspended 21 22 23 PortalSuspended T",
		"13 14 SELECT 2 CloseComplete 34000 E",
		"ROLLBACK I",
	} {
		if got := w.answers(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestProtocolErrors sends wrong messages, with right ones between them, in one session.
func TestProtocolErrors(t *testing.T) {
	w := dial(t, listen(t, postgres.Options{}))
	for _, test := range []struct {
		messages []pgproto3.FrontendMessage
		want     string
	}{
		{[]pgproto3.FrontendMessage{&pgproto3.Query{String: " ; "}}, "EmptyQueryResponse I"},
		{[]pgproto3.FrontendMessage{&pgproto3.Query{String: "SELECT 1; SELECT 2"}},
			"RowDescription 1 SELECT 1 RowDescription 2 SELECT 1 I"},
		{[]pgproto3.FrontendMessage{&pgproto3.Parse{Query: "SELECT 1; SELECT 2"}, &pgproto3.Sync{}},
			"42601 I"},
		{[]pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: "none"}, &pgproto3.Sync{}}, "26000 I"},
		{[]pgproto3.FrontendMessage{&pgproto3.Execute{Portal: "none"}, &pgproto3.Execute{},
			&pgproto3.Sync{}}, "34000 I"},
		{[]pgproto3.FrontendMessage{&pgproto3.Parse{Query: "SELECT $1"}, &pgproto3.Bind{}, &pgproto3.Sync{}},
			"ParseComplete 08P01 I"},
		{[]pgproto3.FrontendMessage{&pgproto3.Parse{Query: "SELECT $1::int8"},
			&pgproto3.Bind{Parameters: [][]byte{[]byte("x")}}, &pgproto3.Sync{}}, "ParseComplete 22P02 I"},
		{[]pgproto3.FrontendMessage{&pgproto3.Parse{Query: "SELECT $1::int8"},
			&pgproto3.Bind{Parameters: [][]byte{{1}}, ParameterFormatCodes: []int16{1}}, &pgproto3.Sync{}},
			"ParseComplete 22P03 I"},
		{[]pgproto3.FrontendMessage{&pgproto3.Parse{Query: "SELECT $70000"}, &pgproto3.Sync{}}, "42P02 I"},
		{[]pgproto3.FrontendMessage{&pgproto3.Parse{Query: ""}, &pgproto3.Describe{ObjectType: 'S'},
			&pgproto3.Bind{},
			&pgproto3.Execute{}, &pgproto3.Sync{}},
			"ParseComplete ParameterDescription NoData BindComplete EmptyQueryResponse I"},
		{[]pgproto3.FrontendMessage{&pgproto3.FunctionCall{}}, "0A000 I"},
		{[]pgproto3.FrontendMessage{&pgproto3.Query{String: "SELECT '1' UNION ALL SELECT x'00'"}}, ""},
	} {
		w.send(test.messages...)
		if got := w.answers(); test.want != "" && got != test.want {
			t.Errorf("%v: got %q, want %q", test.messages, got, test.want)
		}
	}
}

// newSlowServer serves a database with the SQL function enter(), which sends to the channel entered.
func newSlowServer(t *testing.T, o postgres.Options) (s *postgres.Server, entered chan struct{}) {
	t.Helper()
	entered = make(chan struct{}, 1000)
	db, err := driver.Open(":memory:", func(c *sqlite3.Conn) error {
		return c.CreateFunction("enter", 0, 0, func(ctx sqlite3.Context, _ ...sqlite3.Value) {
			entered <- struct{}{}
			ctx.ResultInt(1)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if s, err = postgres.Listen("127.0.0.1:0", db, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, entered
}

// endless is a query that calls the function enter(), and then runs until it is cancelled.
const endless = "WITH RECURSIVE n(i) AS (SELECT enter() UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

// TestCancel sends a cancel request with a wrong key, and then one with the right key, which cancels the
// statement. The session must stay usable.
func TestCancel(t *testing.T) {
	s, entered := newSlowServer(t, postgres.Options{})
	w := dial(t, s)
	w.send(&pgproto3.Query{String: endless})
	<-entered
	wrong := append([]byte{}, w.key.SecretKey...)
	wrong[0] ^= 1
	for _, key := range [][]byte{wrong, w.key.SecretKey} {
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		request, err := (&pgproto3.CancelRequest{ProcessID: w.key.ProcessID, SecretKey: key}).Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(request); err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, conn)
		conn.Close()
	}
	if got, want := w.answers(), "RowDescription 57014 I"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	w.send(&pgproto3.Query{String: "SELECT 1"})
	if got, want := w.answers(), "RowDescription 1 SELECT 1 I"; got != want {
		t.Errorf("after the cancellation: got %q, want %q", got, want)
	}
}

// TestTimeout sets a limit for the time of statements.
func TestTimeout(t *testing.T) {
	s, _ := newSlowServer(t, postgres.Options{})
	w := dial(t, s)
	for _, step := range []struct{ statement, want string }{
		{"SET statement_timeout = '10ms'", "SET I"},
		{"SHOW statement_timeout", "RowDescription 10ms SHOW I"},
		{endless, "57014 I"},
		{"SET statement_timeout TO 60000", "SET I"},
		{"SELECT 1", "RowDescription 1 SELECT 1 I"},
		{"SET statement_timeout = 'soon'", "22023 I"},
	} {
		w.send(&pgproto3.Query{String: step.statement})
		// The limit may come before or after the description of the endless rows.
		if got := w.answers(); strings.TrimPrefix(got, "RowDescription ") !=
			strings.TrimPrefix(step.want, "RowDescription ") {
			t.Errorf("%s: got %q, want %q", step.statement, got, step.want)
		}
	}
}

// TestCancelContext cancels the context of a query of pgx.
func TestCancelContext(t *testing.T) {
	s, entered := newSlowServer(t, postgres.Options{})
	config, err := pgx.ParseConfig(url(s, ""))
	if err != nil {
		t.Fatal(err)
	}
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: time.Minute}
	}
	c, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	_, err = c.Exec(ctx, endless)
	if failure, ok := errors.AsType[*pgconn.PgError](err); !ok || failure.Code != "57014" {
		t.Fatalf("got %v, want code 57014", err)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("after the cancellation: %v", err)
	}
}

// TestGone drops the connection during a statement. The statement and the session must end.
func TestGone(t *testing.T) {
	s, entered := newSlowServer(t, postgres.Options{MaxConnections: 1})
	w := dial(t, s)
	w.send(&pgproto3.Query{String: endless})
	<-entered
	w.conn.Close()
	// The server admits only one client at once, so the next one connects when the first session has ended.
	for {
		c, err := pgx.Connect(t.Context(), url(s, ""))
		if err == nil {
			c.Close(t.Context())
			return
		}
		if failure, ok := errors.AsType[*pgconn.PgError](err); !ok || failure.Code != "53300" {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
}

// TestClose closes a server while one client waits, one runs a statement, and one does not read its rows. No
// goroutine of the server may stay.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	s, entered := newSlowServer(t, postgres.Options{})
	idle := dial(t, s)
	busy := dial(t, s)
	busy.send(&pgproto3.Query{String: endless})
	<-entered
	slow := dial(t, s)
	slow.send(&pgproto3.Query{String: strings.Replace(endless, "count(*)", "i", 1)})
	<-entered
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, ok := idle.receive().(*pgproto3.ErrorResponse); !ok || got.Code != "57P01" {
		t.Errorf("got %v, want code 57P01", got)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	// The open database has one goroutine. Other goroutines of database/sql end shortly after their query.
	// The test hangs here if a goroutine of the server is left.
	const ofDatabase = 1
	for runtime.NumGoroutine() > before+ofDatabase {
		runtime.Gosched()
	}
}

// TestTooMany connects one client more than the server admits.
func TestTooMany(t *testing.T) {
	s := listen(t, postgres.Options{MaxConnections: 2})
	first, second := dial(t, s), dial(t, s)
	_, err := pgx.Connect(t.Context(), url(s, ""))
	if failure, ok := errors.AsType[*pgconn.PgError](err); !ok || failure.Code != "53300" {
		t.Fatalf("got %v, want code 53300", err)
	}
	for _, w := range []*wire{first, second} {
		w.send(&pgproto3.Query{String: "SELECT 1"})
		if got, want := w.answers(), "RowDescription 1 SELECT 1 I"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestManyClients lets 200 clients read at once with few connections to SQLite, beside one client that does
// not read its result.
func TestManyClients(t *testing.T) {
	db := newDatabase(t)
	db.SetMaxOpenConns(8)
	s, err := postgres.Listen("127.0.0.1:0", db, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	slow := dial(t, s)
	slow.send(&pgproto3.Query{String: "SELECT p.entity, q.x FROM position p, position q"})
	var clients sync.WaitGroup
	for range 200 {
		clients.Go(func() {
			c, err := pgx.Connect(t.Context(), url(s, ""))
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close(t.Context())
			for n := range 5 {
				var x float64
				err := c.QueryRow(t.Context(), "SELECT sum(x) FROM position WHERE entity <= $1", n+1).Scan(&x)
				if want := 1.5 * float64((n+1)*(n+2)/2); err != nil || x != want {
					t.Errorf("got %v and error %v, want %v", x, err, want)
				}
			}
		})
	}
	clients.Wait()
}

// TestListen checks that an address that other machines reach needs a password.
func TestListen(t *testing.T) {
	db := newDatabase(t)
	if s, err := postgres.Listen("0.0.0.0:0", db, postgres.Options{}); err == nil {
		s.Close()
		t.Error("Listen accepts clients of all machines without a password")
	} else if !strings.Contains(err.Error(), "Options.Password") {
		t.Errorf("the error %q does not tell what to do", err)
	}
	s, err := postgres.Listen("0.0.0.0:0", db, postgres.Options{Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestWrongPassword connects with a wrong password, which gives the code 28P01, and with the right one.
func TestWrongPassword(t *testing.T) {
	s := listen(t, postgres.Options{Password: "secret"})
	_, err := pgx.Connect(t.Context(), url(s, "password=wrong&sslmode=disable"))
	if failure, ok := errors.AsType[*pgconn.PgError](err); !ok || failure.Code != "28P01" {
		t.Errorf("got %v, want code 28P01", err)
	}
	c, err := pgx.Connect(t.Context(), url(s, "password=secret&sslmode=disable"))
	if err != nil {
		t.Fatal(err)
	}
	c.Close(t.Context())
}

// TestSchemaChange adds a table while a client is connected.
func TestSchemaChange(t *testing.T) {
	db := newDatabase(t)
	s, err := postgres.Listen("127.0.0.1:0", db, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := connect(t, s, "default_query_exec_mode=exec")
	const query = "SELECT count(*) FROM information_schema.columns WHERE table_name = 'added'"
	for _, want := range []int64{0, 2} {
		if got := row(t, c, query); !equalValues(got, []any{want}) {
			t.Errorf("got %v, want %d", got, want)
		}
		if want == 0 {
			if _, err := db.Exec("CREATE TABLE added(a, b)"); err != nil {
				t.Fatal(err)
			}
		}
	}
}
