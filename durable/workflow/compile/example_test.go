package compile_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

const tea = `
id: example.tea
name: Tea
description: Make tea
version: 1.0.0
steps:
  - {id: boil, title: Boil the water, prompt: Boil it.}
  - {id: milk, title: Warm the milk, prompt: Warm it., runCondition: {var: milk, equals: true}}
  - {id: pour, title: Pour, prompt: Pour it.}
`

// A file compiles to a workflow that is identified by its hash.
func ExampleFile() {
	_, c, found := compile.File("tea.yaml", source.SourceProject, []byte(tea))
	fmt.Println(len(found), "problems")
	fmt.Println(c.Hash())
	for _, s := range c.Steps {
		fmt.Println(s.StepID)
	}
	// Output:
	// 0 problems
	// sha256:7c07299aa3063de2d0e4457d344b43c5e86c53656e5ff3f333f80f1f4957d265
	// boil
	// milk
	// pour
}

// All problems of a file are reported at once, each with a correction.
func ExampleFile_problems() {
	_, _, found := compile.File("tea.json", source.SourceProject, []byte(`{"id": "tea", "nme": "Tea",
		"description": "Make tea", "version": "1", "steps": [{"id": "Boil!", "title": "Boil", "prompt": "Boil it."}]}`))
	for _, p := range found {
		fmt.Printf("line %d, %q, %s: %s. %s\n", p.Line, p.Pointer, p.Severity, p.Message, p.Fix)
	}
	// Output:
	// line 1, "", error: a workflow lacks "name". Add "name": a string of 1 to 128 characters.
	// line 1, "/id", warning: workflow id "tea" has no namespace; it works, but other files may use the same id. Write "project.tea".
	// line 1, "/nme", error: a workflow has no key "nme". Did you mean "name"?
	// line 2, "/version", error: expected a semantic version such as "0.1.0", got "1". Write a semantic version such as "0.1.0".
	// line 2, "/steps/0/id", error: expected a step id of lowercase letters, digits, _ and -, got "Boil!". Write "boil".
}
