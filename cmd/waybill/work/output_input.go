package work

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/advance"
)

// resultInput holds the flags with what a step results in: notes as text or file, and artifacts.
type resultInput struct {
	notes     string
	notesFile string
	// file names, in the order of the command line
	artifacts []string
}

// flags adds the flags for the result of a step to a command. about is what the notes are about.
func (in *resultInput) flags(cmd *cobra.Command, about string) {
	cli.WithOptions(cmd,
		cli.Opt(&in.notes, "notes TEXT", about+": TEXT in Markdown"),
		cli.Opt(&in.notesFile, "notes-file FILE", "read the notes from FILE; - is stdin"),
		cli.Opt(&in.artifacts, "artifact FILE", "attach FILE as an artifact; a .json file as a JSON value"))
}

// request reads the input files and returns the request of an attempt with them. Line ends at the
// end of a notes file are removed. Errors: USAGE_ERROR for contradicting flags, VALIDATION_ERROR
// for a file that cannot be read, is too large, or is a .json file without strict JSON.
func (in *resultInput) request(a *cli.App) (advance.Request, error) {
	var out advance.Request
	if in.notes != "" && in.notesFile != "" {
		return out, fault.New(fault.UsageError, "--notes and --notes-file cannot be combined").
			Suggest("Give one of the two.")
	}
	// Editors end a file with a line end. It is removed, so that the same notes by flag and by
	// file are the same request.
	out.Notes = in.notes
	if in.notesFile != "" {
		data, err := a.ReadInput("--notes-file", in.notesFile, limits.WholeNotesBytesMax)
		if err != nil {
			return out, err
		}
		out.Notes = strings.TrimRight(string(data), "\r\n")
	}
	// All artifacts are read before the request is sent.
	for _, name := range in.artifacts {
		artifact, err := readArtifact(a, name)
		if err != nil {
			return out, err
		}
		out.Artifacts = append(out.Artifacts, artifact)
	}
	return out, nil
}

// outputInput holds the flags with the output of a step: its result, context and preferences.
type outputInput struct {
	result  resultInput
	context contextInput
	prefs   preferenceInput
}

// flags adds the flags for the output of a step to a command.
func (in *outputInput) flags(cmd *cobra.Command) {
	in.result.flags(cmd, "notes on the step")
	in.context.flags(cmd)
	in.prefs.flags(cmd)
}

// request reads the input files and returns the request of the attempt. Errors are those of the
// three parts.
func (in *outputInput) request(a *cli.App) (advance.Request, error) {
	out, err := in.result.request(a)
	if err != nil {
		return out, err
	}
	if out.Preferences, err = in.prefs.changes(); err != nil {
		return out, err
	}
	out.Context, err = in.context.read(a)
	return out, err
}

// contentTypes are the media types of file names by their extensions. The table is fixed, because
// the type is recorded: with the table of the operating system, the same call would differ between
// machines.
var contentTypes = map[string]string{
	".csv":   "text/csv",
	".diff":  "text/x-diff",
	".html":  "text/html",
	".jpeg":  "image/jpeg",
	".jpg":   "image/jpeg",
	".json":  "application/json",
	".log":   "text/plain",
	".md":    "text/markdown",
	".patch": "text/x-diff",
	".pdf":   "application/pdf",
	".png":   "image/png",
	".svg":   "image/svg+xml",
	".txt":   "text/plain",
	".xml":   "application/xml",
	".yaml":  "application/yaml",
	".yml":   "application/yaml",
	".zip":   "application/zip",
}

// contentType returns the media type of a file, application/octet-stream for an unknown extension.
func contentType(name string) string {
	return cmp.Or(contentTypes[strings.ToLower(filepath.Ext(name))], "application/octet-stream")
}

// typedFile reads an artifact that a person names at a prompt. There "-" is a file name and
// not stdin, since the person types on stdin.
func typedFile(a *cli.App, name string) (advance.Artifact, error) {
	if name == "-" {
		name = "./-"
	}
	return readArtifact(a, name)
}

// readArtifact reads a file to attach. A .json file must contain strict JSON and is stored as
// a value, all others as bytes with the media type of their extension. Errors:
// VALIDATION_ERROR.
func readArtifact(a *cli.App, name string) (advance.Artifact, error) {
	data, err := a.ReadInput("--artifact", name, limits.ArtifactBytesMax)
	if err != nil {
		return advance.Artifact{}, err
	}
	if kind := contentType(name); kind != "application/json" {
		return advance.Artifact{ContentType: kind, Bytes: data}, nil
	}
	// The parsed value is stored in canonical form, independent of the file's formatting.
	v, err := canon.Parse(data)
	if err != nil {
		return advance.Artifact{}, notStrict("--artifact "+name, err)
	}
	return advance.JSONArtifact(v), nil
}
