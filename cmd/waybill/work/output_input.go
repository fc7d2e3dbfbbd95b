package work

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/advance"
)

// outputInput holds the flags with output for a step: notes as text or file, artifacts, context
// and preferences.
type outputInput struct {
	notes     string
	notesFile string
	// file names, in the order of the command line
	artifacts []string
	context   contextInput
	prefs     preferenceInput
}

// flags adds the flags for the output of a step to a command.
func (in *outputInput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.notes, "notes", "", "notes on the step: `TEXT` in Markdown")
	f.StringVar(&in.notesFile, "notes-file", "", "read the notes from `FILE`; - is stdin")
	f.StringArrayVar(&in.artifacts, "artifact", nil, "attach `FILE` as an artifact; a .json file as a JSON value")
	in.context.flags(cmd)
	in.prefs.flags(cmd)
}

// request reads the input files and returns the request of the attempt. Line ends at the end
// of a notes file are removed. Errors: USAGE_ERROR for contradicting flags, VALIDATION_ERROR
// for a file that cannot be read, is too large, or is a .json file without strict JSON.
func (in *outputInput) request(a *cli.App) (advance.Request, error) {
	var out advance.Request
	if in.notes != "" && in.notesFile != "" {
		return out, fault.New(fault.UsageError, "--notes and --notes-file cannot be combined").
			Suggest("Give one of the two.")
	}
	// Editors end a file with a line end. It is removed, so that the same notes by flag and by
	// file are the same request.
	out.Notes = in.notes
	if in.notesFile != "" {
		data, err := a.ReadInput("--notes-file", in.notesFile, limits.PayloadBytesMax)
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
	var err error
	if out.Preferences, err = in.prefs.changes(); err != nil {
		return out, err
	}
	out.Context, err = in.context.read(a)
	return out, err
}

// contentType returns the media type for the extension of a file name, and
// application/octet-stream for an unknown one. The table is fixed, because the type is
// recorded: with the table of the operating system, the same call would differ between
// machines.
func contentType(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv":
		return "text/csv"
	case ".diff", ".patch":
		return "text/x-diff"
	case ".html":
		return "text/html"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".json":
		return "application/json"
	case ".log", ".txt":
		return "text/plain"
	case ".md":
		return "text/markdown"
	case ".pdf":
		return "application/pdf"
	case ".png":
		return "image/png"
	case ".svg":
		return "image/svg+xml"
	case ".xml":
		return "application/xml"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".zip":
		return "application/zip"
	}
	return "application/octet-stream"
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
