//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
)

const longNotes = "id: test.long\nname: Long\ndescription: d\nversion: 1.0.0\nsteps:\n" +
	"  - {id: tell, title: Tell, prompt: Tell it., notesRequired: true, requireConfirmation: {kind: human_approval}}\n"

// artifactsOf returns the contents of the artifacts in a store, by their sizes.
func artifactsOf(t *testing.T, dir string) map[int]string {
	t.Helper()
	out := map[int]string{}
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(file, "/artifacts/") {
			return err
		}
		data, err := os.ReadFile(file)
		out[len(data)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPastedNotesArriveWhole: one line of 100,000 characters, after a longer one than is allowed.
func TestPastedNotesArriveWhole(t *testing.T) {
	t.Parallel()
	dir := newDir(t, longNotes)
	s := startAtTerminal(t, dir, 80, "run", "w.yaml")
	s.expect("Notes, required")
	go func() { _, _ = s.tty.WriteString(strings.Repeat("y", limits.WholeNotesBytesMax+1) + "\r") }()
	s.expect("The notes have more than")
	s.expect("Notes, required")
	text := strings.Repeat("0123456789", 10_000)
	go func() { _, _ = s.tty.WriteString(text + "\r") }()
	s.expect("show the next page? [y/N]")
	s.typeText("n\r")
	s.expectExit(3)
	if got := artifactsOf(t, dir); got[len(text)] != text {
		t.Error("the notes are not stored whole")
	}
}

// TestNotesChangeBeforeTheApproval: "e" asks for other notes, which are shown before they are approved.
func TestNotesChangeBeforeTheApproval(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"run", "approve"} {
		dir := newDir(t, longNotes)
		s := startAtTerminal(t, dir, 80, "run", "w.yaml")
		s.expect("Notes, required")
		s.typeText("the plan\r")
		s.expect("e change the notes first")
		s.expect("Approve? [y/N]")
		if name == "approve" {
			s.typeText("n\r")
			s.expectExit(3)
			s = startAtTerminal(t, dir, 80, "approve", "@last")
			s.expect("the plan")
			s.expect("Approve? [y/N]")
		}
		s.typeText("e\r")
		s.expect("New notes")
		s.typeText("a better plan\r")
		s.expect("│ a better plan")
		s.expect("Approve? [y/N]")
		s.typeText("y\r")
		s.expectExit(0)
	}
}

// TestRefusedEditorTextIsKept in a file that is named and readable by its owner only.
func TestRefusedEditorTextIsKept(t *testing.T) {
	dir := newDir(t, longNotes)
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	for name, script := range map[string]string{
		"failed":   "#!/bin/sh\necho 'written here' >\"$1\"; exit 1\n",
		"too long": "#!/bin/sh\nhead -c 1048577 /dev/zero | tr '\\0' w >\"$1\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, "editor"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		s := startAtTerminal(t, dir, 200, "run", "w.yaml")
		s.expect("Notes, required")
		s.typeText("\r")
		s.expect("what you wrote is kept in")
		s.typeText("\x03")
		s.expectExit(1)
		files, _ := filepath.Glob(filepath.Join(tmp, "waybill-*.md"))
		if len(files) != 1 {
			t.Fatalf("%s: %q", name, files)
		}
		data, _ := os.ReadFile(files[0])
		info, _ := os.Stat(files[0])
		if !strings.HasPrefix(string(data), "w") || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %d bytes, %v", name, len(data), info.Mode())
		}
		_ = os.Remove(files[0])
	}
}
