package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/vastgo/vast"
)

// problem is why a request is not answered. It is what the client gets.
type problem struct {
	Status   int    `json:"-"`
	Code     string `json:"code"`               // what kind of problem, for programs
	Message  string `json:"message"`            // what to do about it, for people
	Position *int   `json:"position,omitempty"` // where in the text that was sent, in characters
	Length   *int   `json:"length,omitempty"`   // of the part that is meant, likewise
	Retry    int    `json:"-"`                  // seconds to wait before asking again; 0: no use
}

func (p *problem) Error() string { return p.Message }

func badRequest(format string, args ...any) error {
	return &problem{Status: http.StatusBadRequest, Code: "request", Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &problem{Status: http.StatusNotFound, Code: "notFound", Message: fmt.Sprintf(format, args...)}
}

func tooBusy(format string, args ...any) error {
	return &problem{Status: http.StatusServiceUnavailable, Code: "busy", Message: fmt.Sprintf(format, args...), Retry: 1}
}

// problemOf is an error as the client gets it. What is nobody's doing but the program's is told in its own words: it is shown
// to its own people.
func problemOf(err error) *problem {
	var p *problem
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, vast.ErrClosed):
		return &problem{Status: http.StatusGone, Code: "closed", Message: "the program has closed the world"}
	case errors.As(err, &tooLarge):
		return &problem{Status: http.StatusRequestEntityTooLarge, Code: "size",
			Message: fmt.Sprintf("the request is larger than %d bytes", tooLarge.Limit)}
	}
	return &problem{Status: http.StatusInternalServerError, Code: "failure", Message: err.Error()}
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	p := problemOf(err)
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if p.Retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.Retry))
	}
	answer(w, p.Status, struct {
		Error *problem `json:"error"`
	}{p})
}

// answer writes a value as JSON. What cannot be written as JSON is a bug of the inspector's, and said so.
func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status = http.StatusInternalServerError
		body = []byte(`{"error":{"code":"failure","message":"the answer cannot be written as JSON"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// extend gives a client some more time to take what is written next.
func extend(w http.ResponseWriter) {
	// A writer that has no deadline, as in tests, waits for nobody.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
}
