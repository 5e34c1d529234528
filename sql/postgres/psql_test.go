package postgres_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/sql/postgres"
)

// TestPsqlCommands compares what psql 15 prints with the files in testdata/psql. VAST_SQL_WRITE=1 writes the
// files. Other versions print other columns; with them the test only checks that psql prints no error.
func TestPsqlCommands(t *testing.T) {
	needPsql(t)
	version, err := exec.Command("psql", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := listen(t, postgres.Options{})
	for name, commands := range map[string][]string{
		"tables":   {`\dt`, `\dv`, `\di`, `\dt pos*`, `\d`, `\dn`, `\l`, `\du`},
		"describe": {`\d position`, `\d kind`, `\d named`, `\d kind_parent`, `\sv named`},
		"select":   {`SELECT * FROM position LIMIT 2`, `SELECT 1; SELECT 'two'`, `SHOW server_version`},
		"copy":     {`\copy (SELECT * FROM name) TO STDOUT CSV HEADER`, `\copy name TO STDOUT`},
		"copy_kind": {`COPY (SELECT id, ok, data, label, parent FROM kind) ` +
			`TO STDOUT WITH (FORMAT csv, NULL 'none')`},
		"variables": {`\echo :DBNAME :USER`, `SET application_name = 'test'`, `SHOW application_name`},
	} {
		t.Run(name, func(t *testing.T) {
			var arguments []string
			for _, command := range commands {
				arguments = append(arguments, "-c", command)
			}
			got, err := psql(t, connection(s, ""), nil, arguments...)
			if err != nil || strings.Contains(got, "ERROR") {
				t.Fatalf("error %v\n%s", err, got)
			}
			if strings.Contains(string(version), " 15.") {
				compare(t, filepath.Join("testdata", "psql", name+".txt"), got)
			}
		})
	}
}

// compare compares a text with a file, or writes the file if VAST_SQL_WRITE is 1.
func compare(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("VAST_SQL_WRITE") == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(withoutSpaces(got)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if withoutSpaces(got) != withoutSpaces(string(want)) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// withoutSpaces removes spaces at the ends of lines, and empty lines at the end of the text.
func withoutSpaces(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// TestPsqlCursor makes psql read a result in pieces.
func TestPsqlCursor(t *testing.T) {
	needPsql(t)
	got, err := psql(t, connection(listen(t, postgres.Options{}), ""), nil, "-At", "-v", "FETCH_COUNT=300",
		"-c",
		"SELECT entity FROM position")
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if lines := strings.Count(got, "\n"); lines != 1000 {
		t.Errorf("got %d lines, want 1000", lines)
	}
}

// TestPsqlPassword connects with the right password, with a wrong one, and with none.
func TestPsqlPassword(t *testing.T) {
	needPsql(t)
	s := listen(t, postgres.Options{Password: "correct horse"})
	for _, test := range []struct{ password, want string }{
		{"correct horse", "1000\n"},
		{"wrong", "password authentication failed"},
		{"", "no password supplied"},
	} {
		got, _ := psql(t, connection(s, "connect_timeout=5"), []string{"PGPASSWORD=" + test.password}, "-w",
			"-Atc",
			"SELECT count(*) FROM position")
		if !strings.Contains(got, test.want) {
			t.Errorf("password %q: got %q, want %q", test.password, got, test.want)
		}
	}
}

// TestPsqlTLS connects with encryption, and verifies the certificate.
func TestPsqlTLS(t *testing.T) {
	needPsql(t)
	config, certificate := newCertificate(t)
	s := listen(t, postgres.Options{Password: "secret", TLS: config})
	got, err := psql(t, connection(s, "sslmode=verify-ca sslrootcert="+certificate),
		[]string{"PGPASSWORD=secret"},
		"-At", "-c", "SELECT 1", "-c", `\conninfo`)
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if !strings.HasPrefix(got, "1\n") || !strings.Contains(got, "TLSv1.3") {
		t.Errorf("got %q, want 1 and a connection with TLSv1.3", got)
	}
}

// newCertificate returns a configuration with a self-signed certificate, and the path of the file with the
// certificate.
func newCertificate(t *testing.T) (*tls.Config, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "certificate.pem")
	if err := os.WriteFile(path, pemOf(der), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, path
}
