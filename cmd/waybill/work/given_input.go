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

// givenInput is what a caller hands in for a step: notes as text or file,
// artifacts, context and preferences.
type givenInput struct {
	notes     string
	notesFile string
	// file names, in the order in which they are attached
	artifacts []string
	context   contextInput
	prefs     preferenceInput
}

// flags adds the flags for handing in to a command.
func (in *givenInput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.notes, "notes", "", "say what was done: `TEXT`, as Markdown")
	f.StringVar(&in.notesFile, "notes-file", "", "take the notes from `FILE`; - is stdin")
	f.StringArrayVar(&in.artifacts, "artifact", nil, "attach `FILE` as a result; a .json file counts as its value")
	in.context.flags(cmd)
	in.prefs.flags(cmd)
}

// request reads the files and makes the attempt's request of everything given.
// The line end at the end of a notes file is dropped, so that the same notes by
// flag and by file are the same request. An artifact that is no strict JSON,
// though its name says so, is an error.
func (in *givenInput) request(a *cli.App) (advance.Request, error) {
	var out advance.Request
	if in.notes != "" && in.notesFile != "" {
		return out, fault.New(fault.UsageError, "--notes and --notes-file both give the notes").
			Suggest("Give one of the two.")
	}
	// The line end that every editor leaves is no part of the notes; without it
	// the same notes by flag and by file are the same request.
	out.Notes = in.notes
	if in.notesFile != "" {
		data, err := a.ReadInput("--notes-file", in.notesFile, limits.PayloadBytesMax)
		if err != nil {
			return out, err
		}
		out.Notes = strings.TrimRight(string(data), "\r\n")
	}
	// The whole request is read before anything is sent.
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

// contentType is the type of a file by its ending. The table is fixed: that of
// the machine would make the same call mean different things in different
// places.
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

// typedFile reads a file that a person names at a prompt. A dash is a file of
// that name there, since stdin is where the person types.
func typedFile(a *cli.App, name string) (advance.Artifact, error) {
	if name == "-" {
		name = "./-"
	}
	return readArtifact(a, name)
}

// readArtifact reads a file to attach. A .json file must be strict JSON and is
// stored as a value, all others as bytes with the type of their ending.
func readArtifact(a *cli.App, name string) (advance.Artifact, error) {
	data, err := a.ReadInput("--artifact", name, limits.ArtifactBytesMax)
	if err != nil {
		return advance.Artifact{}, err
	}
	if kind := contentType(name); kind != "application/json" {
		return advance.Artifact{ContentType: kind, Bytes: data}, nil
	}
	v, err := canon.Parse(data)
	if err != nil {
		return advance.Artifact{}, notStrict("--artifact "+name, err)
	}
	return advance.JSONArtifact(v), nil
}
