package inspect

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// decodeBody decodes a request's body, which must be exactly one JSON object. The body null counts as an
// empty object. decodeBody returns io.EOF if the body is empty, and an error that wraps *http.MaxBytesError
// if the body is too large. All other errors show the example.
func decodeBody(body io.Reader, into any, example string) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	whole := err == nil
	if whole {
		// Decoder.More does not suffice: it returns false at any closing bracket.
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
