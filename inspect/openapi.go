package inspect

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
)

// apiFiles holds the parts of the OpenAPI description.
//
//go:embed api/*.json
var apiFiles embed.FS

// document is an OpenAPI description, or a part of one.
type document struct {
	OpenAPI    string                    `json:"openapi,omitempty"`
	Info       map[string]any            `json:"info,omitempty"`
	Paths      map[string]map[string]any `json:"paths"`
	Components struct {
		Schemas         map[string]any `json:"schemas"`
		Parameters      map[string]any `json:"parameters,omitempty"`
		Responses       map[string]any `json:"responses,omitempty"`
		SecuritySchemes map[string]any `json:"securitySchemes,omitempty"`
	} `json:"components"`
}

// apiDocument returns the OpenAPI description, joined from the parts in apiFiles.
var apiDocument = sync.OnceValues(func() (*document, error) {
	whole := &document{OpenAPI: "3.1.0", Paths: make(map[string]map[string]any)}
	whole.Info = map[string]any{
		"title": "Vast inspector", "version": "1",
		"description": "The data of the page, for programs. Times are in seconds and sizes in bytes. An " +
			"entity is a string of slot and generation, such as 17.3. " +
			"An error is {\"error\": {\"code\", \"message\"}}.",
		"license": map[string]any{"name": "MIT"},
	}
	whole.Components.Schemas = make(map[string]any)
	whole.Components.Parameters = make(map[string]any)
	whole.Components.Responses = make(map[string]any)
	whole.Components.SecuritySchemes = map[string]any{"token": map[string]any{"type": "http",
		"scheme": "bearer"}}
	files, err := apiFiles.ReadDir("api")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := apiFiles.ReadFile("api/" + f.Name())
		if err != nil {
			return nil, err
		}
		var part document
		if err := json.Unmarshal(text, &part); err != nil {
			return nil, fmt.Errorf("inspect: api/%s: %w", f.Name(), err)
		}
		maps.Copy(whole.Paths, part.Paths)
		maps.Copy(whole.Components.Schemas, part.Components.Schemas)
		maps.Copy(whole.Components.Parameters, part.Components.Parameters)
		maps.Copy(whole.Components.Responses, part.Components.Responses)
	}
	return whole, nil
})

func (in *Inspector) documentRoutes() []route {
	return []route{{method: "GET", pattern: "openapi.json",
		answer: func(*http.Request) (any, error) { return apiDocument() }}}
}
