package inspect

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestEveryRouteIsDescribed(t *testing.T) {
	f := newFixture(t, Options{})
	doc, err := apiDocument()
	if err != nil {
		t.Fatal(err)
	}
	described := make(map[string]bool)
	for path, operations := range doc.Paths {
		for method := range operations {
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	for _, r := range f.routes() {
		name := r.method + " " + prefix + r.pattern
		if !described[name] {
			t.Errorf("%s is not described in api/*.json", name)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("%s is described, but the route does not exist", name)
	}
}

// TestExamplesAreTrue sends each x-request of the OpenAPI description. The answer and the example in the
// description must have the same keys, with values of the same types.
func TestExamplesAreTrue(t *testing.T) {
	t.Parallel()
	_, db := newScripted(t)
	f := newFixture(t, Options{SQL: db})
	doc, err := apiDocument()
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		operation, ok := doc.Paths[path]["get"].(map[string]any)
		if !ok {
			continue
		}
		request, ok := operation["x-request"].(string)
		if !ok {
			continue
		}
		example := jsonValueAt(operation, "responses", "200", "content", "application/json", "example")
		if example == nil {
			t.Errorf("%s has an x-request, but no example", path)
			continue
		}
		asked++
		t.Run(path, func(t *testing.T) {
			var got any
			f.get(t, strings.TrimPrefix(request, prefix), &got)
			for _, difference := range shapeDifferences("answer", example, got) {
				t.Error(difference)
			}
		})
	}
	if asked == 0 {
		t.Error("the description has no example with an x-request")
	}
}

func jsonValueAt(v any, keys ...string) any {
	for _, k := range keys {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	return v
}

func shapeDifferences(at string, example, got any) (differences []string) {
	if example == nil || got == nil {
		return nil // null may stand for a value of any type
	}
	switch e := example.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: the example is an object, the answer a %T", at, got)}
		}
		for k, v := range e {
			if _, ok := g[k]; !ok {
				differences = append(differences, fmt.Sprintf("%s.%s is only in the example", at, k))
				continue
			}
			differences = append(differences, shapeDifferences(at+"."+k, v, g[k])...)
		}
		for k := range g {
			if _, ok := e[k]; !ok {
				differences = append(differences, fmt.Sprintf("%s.%s is only in the answer", at, k))
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s: the example is an array, the answer a %T", at, got)}
		}
		if len(e) > 0 && len(g) > 0 {
			return shapeDifferences(at+"[0]", e[0], g[0])
		}
	default:
		if fmt.Sprintf("%T", example) != fmt.Sprintf("%T", got) {
			return []string{fmt.Sprintf("%s: the example is a %T, the answer a %T", at, example, got)}
		}
	}
	return differences
}

func TestShapeDifferences(t *testing.T) {
	for _, c := range []struct {
		example, got string
		want         int
	}{
		{`{"a":1,"b":[{"c":"x"}]}`, `{"a":2,"b":[{"c":"y"},{}]}`, 0},
		{`{"a":1}`, `{"a":"1"}`, 1},
		{`{"a":1}`, `{"b":1}`, 2},
		{`{"a":[1]}`, `{"a":{}}`, 1},
		{`{"a":[{"b":1}]}`, `{"a":[{"b":true,"c":1}]}`, 2},
		{`{"a":null}`, `{"a":1}`, 0},
	} {
		var e, g any
		if json.Unmarshal([]byte(c.example), &e) != nil || json.Unmarshal([]byte(c.got), &g) != nil {
			t.Fatal(c)
		}
		if d := shapeDifferences("v", e, g); len(d) != c.want {
			t.Errorf("%s and %s: the differences are %q, want %d of them", c.example, c.got, d, c.want)
		}
	}
}

func TestDescriptionIsServed(t *testing.T) {
	f := newFixture(t, Options{})
	var doc struct {
		OpenAPI string
		Paths   map[string]any
	}
	f.get(t, "openapi.json", &doc)
	if doc.OpenAPI != "3.1.0" || doc.Paths["/api/v1/world"] == nil {
		t.Errorf("served %+v", doc)
	}
	f.refused(t, http.StatusNotFound, "GET", "nothing", "", "")
}
