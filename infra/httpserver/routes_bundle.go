package httpserver

import (
	"net/http"

	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

// promptsMax is the number of templates on a page of a list.
const promptsMax = 100

func bundleRoutes() []*route {
	return []*route{
		{method: http.MethodGet, path: runPath + "/debug-bundle", id: "getDebugBundle", scope: httpkeys.RunsRead,
			purpose: "Read a run for diagnosis: its state, events and annotations, without secrets.",
			notes: "It has at most 8 MiB. One that would be larger has the first events, `truncated` true and the " +
				"reason; `metrics.eventCount` counts those that it has.",
			answers:  []answer{success[openwop.DebugBundle](http.StatusOK, "the bundle")},
			refusals: []outcome{unknownRun}, handle: getDebugBundle},
		{method: http.MethodGet, path: "/v1/prompts", id: "listPromptTemplates", scope: httpkeys.ManifestRead,
			purpose: "List the prompt templates that are installed.",
			notes:   "They are sorted by id, the newest version first.",
			query: []parameter{{"kind", words(promptref.Kinds()), "only templates of this kind"},
				{"source", words([]string{promptref.OfHost, promptref.OfPack, promptref.OfUser}), "only templates of this origin"},
				{"tag", "a tag", "only templates with the tag"},
				{"modelClass", "a class of models", "only templates with this hint"},
				{"limit", "1 to 100", "how many at most; 100 by default"},
				{"cursor", "the nextCursor of a page", "continue behind that page"}},
			answers: []answer{success[promptref.Page](http.StatusOK, "the templates")}, handle: listPrompts},
		{method: http.MethodGet, path: "/v1/prompts/{templateId}", id: "getPromptTemplate", scope: httpkeys.ManifestRead,
			purpose: "Read a prompt template.",
			notes: "The answer may be kept for 60 seconds; a request with its ETag in If-None-Match is answered with " +
				"304.",
			query: []parameter{{"version", "a version", "this version, in place of the newest"},
				{"libraryId", "the name of a pack", "the template of this pack"}},
			answers: []answer{success[promptref.Template](http.StatusOK, "the template"),
				{http.StatusNotModified, nil, "it did not change"}},
			refusals: []outcome{{http.StatusNotFound, openwop.ErrNotFound, "no template has the id, or the version"},
				{http.StatusBadRequest, openwop.ErrValidation, "several packs have the template: name one as `libraryId`"}},
			handle: getPrompt},
	}
}
