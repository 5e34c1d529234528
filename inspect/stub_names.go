package inspect

import (
	"net/http"
	"strconv"

	"github.com/vastgo/vast"
)

func (in *Inspector) nameOf(e vast.Entity) string {
	if in.options.Names != nil {
		n, _ := in.options.Names.Name(e)
		return n
	}
	return ""
}

func wholeNumber(r *http.Request, name string, otherwise, least, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, badRequest("%s is a whole number from %d to %d, not %.40q", name, least, most, text)
	}
	return n, nil
}
