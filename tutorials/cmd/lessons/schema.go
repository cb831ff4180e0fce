package main

import (
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/kubetab/kubetab/tutorials"
)

// schemaFile is schema.json: lesson.yaml as an editor may check it while it is being written.
func schemaFile() []byte {
	r := jsonschema.Reflector{
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if t != reflect.TypeFor[tutorials.Watched]() {
				return nil
			}
			long := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"resource"}, AdditionalProperties: jsonschema.FalseSchema}
			long.Properties.Set("resource", &jsonschema.Schema{Type: "string"})
			long.Properties.Set("namespace", &jsonschema.Schema{Type: "string"})
			return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, long}}
		},
	}
	s := r.Reflect(&tutorials.Lesson{})
	s.ID, s.Title = "", "lesson.yaml"
	s.Description = "Written by `go run ./tutorials/cmd/lessons -schema` from the Go types in tutorials/lesson.go."
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // of a fixed type
	}
	return append(text, '\n')
}
