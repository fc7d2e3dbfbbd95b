package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/advance"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

// givenInput is what a caller brings to a step.
type givenInput struct {
	notes     string
	notesFile string
	artifacts []string
	context   contextInput
}

func (in *givenInput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.notes, "notes", "", "say what was done: `TEXT`, as Markdown")
	f.StringVar(&in.notesFile, "notes-file", "", "take the notes from `FILE`; - is stdin")
	f.StringArrayVar(&in.artifacts, "artifact", nil, "attach `FILE` as a result; a .json file counts as its value")
	in.context.flags(cmd)
}

// request is everything given, read and ready to be sent.
func (in *givenInput) request(a *app) (advance.Request, error) {
	var out advance.Request
	if in.notes != "" && in.notesFile != "" {
		return out, fault.New(fault.UsageError, "--notes and --notes-file both give the notes").Suggest("Give one of the two.")
	}
	out.Notes = in.notes
	if in.notesFile != "" {
		data, err := a.readInput("--notes-file", in.notesFile, limits.PayloadBytesMax)
		if err != nil {
			return out, err
		}
		out.Notes = strings.TrimRight(string(data), "\r\n")
	}
	for _, name := range in.artifacts {
		artifact, err := a.artifact(name)
		if err != nil {
			return out, err
		}
		out.Artifacts = append(out.Artifacts, artifact)
	}
	var err error
	out.Context, err = in.context.read(a)
	return out, err
}

// contentTypes are fixed: the machine's own tables would make the same call mean
// different things in different places.
var contentTypes = map[string]string{
	".csv": "text/csv", ".diff": "text/x-diff", ".gif": "image/gif", ".html": "text/html", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".log": "text/plain", ".md": "text/markdown", ".patch": "text/x-diff", ".pdf": "application/pdf", ".png": "image/png",
	".svg": "image/svg+xml", ".txt": "text/plain", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
	".zip": "application/zip",
}

// artifact reads a file to attach.
func (a *app) artifact(name string) (advance.Artifact, error) {
	data, err := a.readInput("--artifact", name, limits.ArtifactBytesMax)
	if err != nil {
		return advance.Artifact{}, err
	}
	ext := strings.ToLower(filepath.Ext(name))
	if ext != ".json" {
		kind := contentTypes[ext]
		if kind == "" {
			kind = "application/octet-stream"
		}
		return advance.Artifact{ContentType: kind, Bytes: data}, nil
	}
	v, err := canon.Parse(data)
	if err != nil {
		return advance.Artifact{}, notStrict("--artifact "+name, err)
	}
	return advance.JSONArtifact(v), nil
}
