package inspect

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// handlerRoutes returns the routes of Options.Handlers. It panics if a handler is nil, if a name is invalid,
// or if a name is the first part of another route's path.
func (in *Inspector) handlerRoutes(others []route) (list []route) {
	for _, name := range slices.Sorted(maps.Keys(in.options.Handlers)) {
		h := in.options.Handlers[name]
		taken := slices.ContainsFunc(others, func(r route) bool {
			first, _, _ := strings.Cut(r.pattern, "/")
			return first == name
		})
		if !viewID.MatchString(name) || taken || h == nil {
			panic(fmt.Sprintf("inspect: Options.Handlers[%q]: use a handler that is not nil and a name that "+
				"the inspector does not use, of 1 to 32 characters of a-z, 0-9 and -", name))
		}
		serve := func(w http.ResponseWriter, r *http.Request) error {
			h.ServeHTTP(extending{w}, r)
			return nil
		}
		list = append(list, route{method: "GET", pattern: name, raw: serve, stream: true},
			route{method: "POST", pattern: name, raw: serve, stream: true, write: true})
	}
	return list
}

// extending is a response writer that gives each write a new deadline. The inspector does the same for its
// own writes.
type extending struct{ http.ResponseWriter }

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w extending) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w extending) Write(b []byte) (int, error) {
	extend(w.ResponseWriter)
	return w.ResponseWriter.Write(b)
}
