package prompt_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// ExampleRender: a rendered step contains values of the context, the requirements, and
// a warning for each missing value.
func ExampleRender() {
	_, c, _ := compile.File("tea.yaml", source.SourceProject, []byte(`
id: example.tea
name: Tea
description: Make tea
version: 1.0.0
steps:
  - id: pour
    title: Pour
    prompt: Pour {{tea.kind}} for {{guests}} and {{host}}.
    guidance: [Mind the milk.]
    notesRequired: true
    inputs: [{contextKey: host, reason: needs_user_artifact, description: Who pays}]
    validationCriteria: {type: contains, value: cups, message: Say how many}
`))
	vars := canon.OfMembers(
		canon.Member{Name: "tea", Value: canon.OfMembers(canon.Member{Name: "kind", Value: canon.OfString("Assam")})},
		canon.Member{Name: "guests", Value: canon.OfList(canon.OfString("Ann"), canon.OfString("Bob"))})
	text := prompt.Render(c, c.Steps[0], vars, prompt.Surroundings{})
	fmt.Println(text.Prompt)
	fmt.Println("====")
	fmt.Println(text.Warnings[0])
	// Output:
	// Pour Assam for ["Ann","Bob"] and {{host}}.
	//
	// ## Guidance
	//
	// - Mind the milk.
	//
	// ## Needed before this step can be left
	//
	// - Who pays (context key host)
	//
	// ---
	// OUTPUT REQUIREMENTS:
	// - Notes are required
	// - Must contain 'cups' (Say how many)
	// ====
	// The prompt asks for {{host}}, which the context does not hold; it is shown as written.
}
