package inspect

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// decodeBody reads a request's body: one JSON object like the example, and nothing behind it. It returns
// io.EOF for an empty body.
func decodeBody(body io.Reader, into any, example string) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	whole := err == nil
	if whole {
		// Decoder.More is made for lists: it takes any closing bracket for the end of one.
		_, err = d.Token()
	}
	switch tooLarge := new(http.MaxBytesError); {
	case whole && err == io.EOF:
		return nil
	case err == io.EOF, errors.As(err, &tooLarge):
		return err
	case whole:
		return badRequest("the body must be one JSON object, such as %s", example)
	}
	return badRequest("the body must be like %s: %v", example, err)
}
