// Package attach connects the commands to the inspector of a running program. It parses addresses, sends
// requests, decodes errors, and follows the live stream.
package attach

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Program is a running program with an inspector.
type Program struct {
	base    *url.URL // ends in /
	token   string
	client  *http.Client // waits for the header of an answer for answerTime
	patient *http.Client // waits until the context of the request ends
}

// tokenVariable is the environment variable with the token. It is safer than the flag, which shows the token
// to every user of the machine.
const tokenVariable = "VAST_TOKEN"

// AboutToken is the usage text of the flag for the token.
const AboutToken = "the inspector's `token`; safer in the environment variable " + tokenVariable + ",\n" +
	"or in the address as printed, with #token=…"

const (
	dialTime   = 5 * time.Second  // longest wait for a connection
	answerTime = 30 * time.Second // longest wait for the header of an answer
)

// maxError is the largest number of bytes that are read of an answer with an error.
const maxError = 64 << 10

var errAddress = errors.New("want the address of an inspector, as HOST:PORT or as the URL that the " +
	"program printed")

// New returns the program at an address: HOST:PORT, :PORT, PORT, or a URL. If token is empty, New takes the
// token from the fragment of the URL, or else from the environment.
func New(address, token string) (*Program, error) {
	u, err := parse(address)
	if err != nil {
		return nil, err
	}
	if fragment, err := url.ParseQuery(u.Fragment); err == nil && token == "" {
		token = fragment.Get("token")
	}
	if token == "" {
		token = os.Getenv(tokenVariable)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("a token has only ASCII letters, digits and signs, and no blanks")
	}
	u.Fragment, u.RawFragment, u.RawQuery, u.ForceQuery = "", "", "", false
	return &Program{u, token, newClient(answerTime), newClient(0)}, nil
}

// newClient returns a client. wait is the longest time that the client waits for the header of an answer; 0
// means no limit.
func newClient(wait time.Duration) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: dialTime}).DialContext,
			TLSHandshakeTimeout:   dialTime,
			ResponseHeaderTimeout: wait,
		},
		// An inspector does not redirect, and the token must not follow a redirection.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func parse(address string) (*url.URL, error) {
	text := strings.TrimSpace(address)
	if text != "" && strings.Trim(text, "0123456789") == "" {
		text = ":" + text
	}
	if !strings.Contains(text, "://") {
		if strings.HasPrefix(text, ":") {
			text = "127.0.0.1" + text
		}
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.HasSuffix(u.Host, ":") || u.User != nil ||
		u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q: %w", address, errAddress)
	}
	if _, err := net.LookupPort("tcp", u.Port()); u.Port() != "" && err != nil {
		return nil, fmt.Errorf("%q: %w", address, errAddress)
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	return u, nil
}

// Address returns the address of the program, without a token.
func (p *Program) Address() string {
	if p.base.Path == "/" && p.base.Scheme == "http" {
		return p.base.Host
	}
	return p.base.String()
}

// Error is an answer with an error message.
type Error struct {
	Status  int
	Code    string
	Message string
	// Position and Length are the place of the error in the query or statement, in characters. Position is -1
	// if the place is not known. Length is 0 at the end of the text.
	Position, Length int
}

func (e *Error) Error() string {
	if e.Status == http.StatusUnauthorized {
		return e.Message + "; give the inspector's token with -token or in " + tokenVariable
	}
	return e.Message
}

// Open requests a path below /api/v1/ and returns the body of the answer. The caller must close the body. If
// the inspector answers with an error message, Open returns an [*Error].
func (p *Program) Open(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	u := p.base.JoinPath("api", "v1", path)
	u.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	return p.ask(p.client, request)
}

// Send posts a value as JSON to a path below /api/v1/, and returns the body of the answer, as Open does. Only
// ctx limits how long Send waits for the answer, because the program may need a long time for it.
func (p *Program) Send(ctx context.Context, path string, value any) (io.ReadCloser, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	u := p.base.JoinPath("api", "v1", path)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	return p.ask(p.patient, request)
}

func (p *Program) ask(client *http.Client, request *http.Request) (io.ReadCloser, error) {
	if p.token != "" {
		request.Header.Set("Authorization", "Bearer "+p.token)
	}
	answer, err := client.Do(request)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err // the message below has the address
		}
		return nil, fmt.Errorf("no answer from %s: %w", p.Address(), err)
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		return nil, p.refusal(answer)
	}
	return answer.Body, nil
}

// Get requests a path below /api/v1/ and decodes the answer into a value. The answer must be one JSON value
// of at most limit bytes.
func (p *Program) Get(ctx context.Context, path string, query url.Values, limit int64, into any) error {
	body, err := p.Open(ctx, path, query)
	if err != nil {
		return err
	}
	defer body.Close()
	answer, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err == nil && int64(len(answer)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	if err == nil {
		err = json.Unmarshal(answer, into)
	}
	if err != nil {
		return fmt.Errorf("%s gave an answer that cannot be understood: %w", p.Address(), err)
	}
	return nil
}

// refusal returns an answer whose status is not 200 as an error.
func (p *Program) refusal(answer *http.Response) error {
	var body struct {
		Error struct {
			Code     string
			Message  string
			Position *int
			Length   int
		}
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxError))
	if err := json.Unmarshal(text, &body); err != nil || body.Error.Message == "" {
		return fmt.Errorf("%s answers %q: is it the inspector of a program?", p.Address(), answer.Status)
	}
	e, position := body.Error, -1
	if e.Position != nil {
		position = max(*e.Position, 0)
	}
	return &Error{answer.StatusCode, e.Code, e.Message, position, max(e.Length, 0)}
}
