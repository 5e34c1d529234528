package postgres_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/vastgo/vast/sql/postgres"
)

// FuzzWire sends any bytes after the handshake, and any bytes instead of the handshake. The server must close
// the connection within 20 seconds.
func FuzzWire(f *testing.F) {
	encode := func(messages ...pgproto3.FrontendMessage) []byte {
		var b []byte
		for _, message := range messages {
			var err error
			if b, err = message.Encode(b); err != nil {
				f.Fatal(err)
			}
		}
		return b
	}
	startup := encode(&pgproto3.StartupMessage{
		ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "fuzz"},
	})
	f.Add(true, encode(&pgproto3.Query{String: "SELECT * FROM position"}, &pgproto3.Terminate{}))
	f.Add(true, encode(&pgproto3.Parse{Name: "s", Query: "SELECT $1::int8 + 1"},
		&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{{0, 0, 0, 0, 0, 0, 0, 1}},
			ParameterFormatCodes: []int16{1}, ResultFormatCodes: []int16{1}},
		&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{MaxRows: 1}, &pgproto3.Close{ObjectType: 'S',
			Name: "s"},
		&pgproto3.Sync{}))
	f.Add(true,
		encode(&pgproto3.Query{String: "BEGIN; DECLARE c CURSOR FOR SELECT 1; FETCH ALL FROM c; COMMIT"}))
	f.Add(true, encode(&pgproto3.CopyData{Data: []byte("x")}, &pgproto3.FunctionCall{}, &pgproto3.Flush{}))
	f.Add(false, encode(&pgproto3.SSLRequest{}, &pgproto3.GSSEncRequest{}))
	f.Add(false, encode(&pgproto3.CancelRequest{ProcessID: 1, SecretKey: []byte{1, 2, 3, 4}}))
	s := listen(f, postgres.Options{})
	f.Fuzz(func(t *testing.T, greets bool, data []byte) {
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		if greets {
			data = append(append([]byte{}, startup...), data...)
		}
		go func() {
			conn.Write(data)
			conn.(*net.TCPConn).CloseWrite()
		}()
		if _, err := io.Copy(io.Discard, conn); err != nil {
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				t.Fatalf("the server hangs after %q", data)
			}
		}
	})
}
