package postgres

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"
)

// scramSHA256 is the name of the SASL mechanism in messages.
const scramSHA256 = "SCRAM-SHA-256"

// scramIterations is the number of iterations that PostgreSQL uses by default.
const scramIterations = 4096

// A secret verifies a password without storing it.
type secret struct{ server *scram.Server }

func newSecret(password string) (*secret, error) {
	client, err := scram.SHA256.NewClient("", password, "")
	if err != nil {
		return nil, fmt.Errorf("postgres: Options.Password has a character that SCRAM forbids: %w", err)
	}
	salt := make([]byte, 16)
	rand.Read(salt)
	stored, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(salt),
		Iters: scramIterations})
	if err != nil {
		return nil, fmt.Errorf("postgres: preparing the password: %w", err)
	}
	// As in PostgreSQL, the startup message has the user's name. The name in SCRAM messages is ignored.
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) {
		return stored, nil
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: preparing SCRAM: %w", err)
	}
	return &secret{server}, nil
}

// authenticate verifies the client's password, if the server has one. If the server also has TLS, it first
// refuses an unencrypted connection from another machine.
func (x *session) authenticate() error {
	if x.server.secret == nil {
		return nil
	}
	if x.server.options.TLS != nil && !x.encrypted && !isLoopback(x.conn.RemoteAddr()) {
		return x.refuse(failWithHint(codeInvalidAuth, "the server accepts encrypted connections only",
			"Connect with sslmode=require."))
	}
	x.backend.Send(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{scramSHA256}})
	conversation := x.server.secret.server.NewConversation()
	first, err := x.receiveSASL(pgproto3.AuthTypeSASL)
	if err != nil {
		return err
	}
	initial, ok := first.(*pgproto3.SASLInitialResponse)
	if !ok || initial.AuthMechanism != scramSHA256 {
		return x.refuse(failWithHint(codeProtocolViolation, "unknown method of authentication",
			"Use "+scramSHA256+"."))
	}
	challenge, err := conversation.Step(string(initial.Data))
	if err != nil {
		return x.refuse(fail(codeProtocolViolation, "malformed SCRAM message: "+err.Error()))
	}
	x.backend.Send(&pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)})
	second, err := x.receiveSASL(pgproto3.AuthTypeSASLContinue)
	if err != nil {
		return err
	}
	response, ok := second.(*pgproto3.SASLResponse)
	if !ok {
		return x.refuse(fail(codeProtocolViolation, "expected a SCRAM message"))
	}
	final, err := conversation.Step(string(response.Data))
	if err != nil || !conversation.Valid() {
		return x.refuse(failWithHint(codeWrongPassword,
			fmt.Sprintf("password authentication failed for user %q", x.userName),
			"The password is the server's Options.Password."))
	}
	x.backend.Send(&pgproto3.AuthenticationSASLFinal{Data: []byte(final)})
	return nil
}

// receiveSASL sends what is pending and receives an answer of the kind that authType names.
func (x *session) receiveSASL(authType uint32) (pgproto3.FrontendMessage, error) {
	if err := errors.Join(x.backend.Flush(), x.backend.SetAuthType(authType)); err != nil {
		return nil, err
	}
	return x.backend.Receive()
}
