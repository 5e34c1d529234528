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

// problem is the error of a request. The client gets the problem as JSON.
type problem struct {
	Status   int    `json:"-"`
	Code     string `json:"code"`               // kind of problem, for programs
	Message  string `json:"message"`            // what is wrong and what to do about it, for people
	Position *int   `json:"position,omitempty"` // index of the first wrong character in the sent text
	Length   *int   `json:"length,omitempty"`   // number of wrong characters
	Retry    int    `json:"-"`                  // seconds in the header Retry-After; 0 for no header
	cause    error
}

func (p *problem) Error() string { return p.Message }

func (p *problem) Unwrap() error { return p.cause }

func badRequest(format string, args ...any) error {
	return &problem{Status: http.StatusBadRequest, Code: "request", Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &problem{Status: http.StatusNotFound, Code: "notFound", Message: fmt.Sprintf(format, args...)}
}

func tooBusy(format string, args ...any) error {
	return &problem{Status: http.StatusServiceUnavailable, Code: "busy",
		Message: fmt.Sprintf(format, args...), Retry: 1}
}

// problemOf turns an error into a problem. The client gets the text even of an unknown error, because the
// users of the inspector are the program's own developers.
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

// answer writes a value as JSON. If the value cannot be encoded, answer writes an error.
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

func extend(w http.ResponseWriter) {
	// An error means that the writer has no deadlines, as in tests.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
}
