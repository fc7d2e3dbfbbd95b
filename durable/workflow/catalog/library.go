package catalog

import (
	"path"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Bindings holds a project's choices for extension points: workflow id → slot id → routine
// id.
type Bindings map[string]map[string]string

// ReadBindings parses a bindings file: an object of workflow ids, each with an object of
// slot ids and the ids of the routines that fill them. Whether the ids exist is not
// checked. It fails if data is not JSON or has another structure.
func ReadBindings(data []byte) (out Bindings, err error) {
	v, err := canon.Parse(canon.WithoutBOM(data))
	if err != nil {
		return nil, err
	}
	return out, canon.Decode(v, &out)
}

// Sources are what workflows are compiled from: the files of all sources, the bundled ones
// first, the project's bindings, and prompt templates. Of several templates with one id,
// version and pack, the first is used.
type Sources struct {
	Files    []File
	Bindings Bindings
	Prompts  []promptref.Template
}

// Library returns what an artifact without a file may use: the routines of all sources but
// attached ones, the bindings and the prompts.
func (s Sources) Library() compile.Library {
	return s.index(parse(s.Files)).library(File{})
}

// Compile parses and compiles a file of the sources, or another file, with what it may use of
// them; see index. Errors of reading, parsing and compiling become Problems of the entry. It does
// not compare the file with others; see Of.
func (s Sources) Compile(f File) Entry {
	return parse([]File{f})[0].compile(s.index(parse(s.Files)).library(f))
}

// index holds the routines of files by who may call them.
type index struct {
	besides  map[directory]compile.Routines // by folder and directory in it
	folders  map[string]compile.Routines    // by folder
	shared   compile.Routines
	aliases  compile.Routines
	bindings Bindings
	prompts  promptref.Library
}

// directory is a directory in the folder of a source.
type directory struct{ folder, dir string }

// index sorts the routines of files. When several files have one id, the first is used. Files
// that could not be read are skipped. An installed routine is at the place of the file that it replaces.
func (s Sources) index(files []parsed) index {
	out := index{map[directory]compile.Routines{}, map[string]compile.Routines{}, compile.Routines{}, compile.Routines{},
		s.Bindings, promptref.NewLibrary(s.Prompts)}
	var installed []parsed
	for _, f := range files {
		if len(f.Replaces) > 0 {
			installed = append(installed, f)
		}
	}
	for _, f := range files {
		src := f.routine()
		if src.ID == "" {
			continue
		}
		for _, i := range installed {
			if i.src.ID == src.ID && i.gaveWay(f.File) {
				src = i.routine()
			}
		}
		if f.Folder != "" {
			addTo(out.besides, directory{f.Folder, path.Dir(f.Ref)}, src.ID, src)
			addTo(out.folders, f.Folder, src.ID, src)
		}
		if f.Attached == "" {
			addTo(map[string]compile.Routines{"": out.shared}, "", src.ID, src)
		}
		for _, alias := range f.Aliases {
			addTo(map[string]compile.Routines{"": out.aliases}, "", alias, src)
		}
	}
	return out
}

// addTo adds a routine to one of several groups, unless the group has one with its id.
func addTo[K comparable](groups map[K]compile.Routines, key K, id string, src source.Source) {
	group := groups[key]
	if group == nil {
		group = compile.Routines{}
		groups[key] = group
	}
	if _, taken := group[id]; !taken {
		group[id] = src
	}
}

// routine returns the source of a file as a routine. A project may contain a copy of a bundled
// file. Its reserved id would be an error in a project's file, so it is parsed as a bundled one.
func (f parsed) routine() source.Source {
	if !f.src.Valid && source.Reserved(f.src.ID) && !source.MayReserve(f.Kind) {
		src, _ := source.Parse(f.Ref, source.SourceBundled, f.Data)
		return src
	}
	return f.src
}

// library returns what a file may use. Routines are looked up in this order
// (docs/design.md#workflow-sources): those in the directory of the file, in its subdirectory
// "routines", in the rest of the folder; then those of all sources but the attached folders;
// then the aliases of bundled ones.
func (x index) library(f File) compile.Library {
	var groups []compile.Routines
	if f.Folder != "" {
		dir := path.Dir(f.Ref)
		groups = append(groups, x.besides[directory{f.Folder, dir}], x.besides[directory{f.Folder, path.Join(dir, "routines")}],
			x.folders[f.Folder])
	}
	return compile.Library{Routines: append(groups, x.shared, x.aliases), Bindings: x.bindings, Prompts: x.prompts,
		Complete: true}
}

// Named is the compilation of a file that a caller named by its path. Beside reads the files in
// its directory and in the subdirectory "routines" of that, Others what all sources have.
type Named struct {
	File     File
	Bindings Bindings
	Beside   func() ([]File, error)
	Others   func() (Sources, error)
}

// Compile parses and compiles the file. It reads other files only for references that the file
// makes: none for a file without references, and those beside it if they have all routines that
// it calls, also through others (docs/design.md#workflow-sources).
func (n Named) Compile() (Entry, error) {
	file := parse([]File{n.File})[0]
	refs := compile.ReferencesOf(file.src)
	alone := compile.Library{Bindings: n.Bindings}
	needed := len(refs.Routines) > 0 || refs.Prompts && file.src.Valid
	if !needed && !refs.Bound {
		return file.compile(alone), nil
	}
	beside, err := n.Beside()
	if err != nil && needed {
		return Entry{}, err
	}
	with := Sources{Files: beside, Bindings: n.Bindings}
	if found := with.index(parse(beside)).library(n.File); complete(refs, found.Routines) && !refs.Bound {
		return file.compile(found), nil
	}
	others, err := n.Others()
	if err != nil && !needed { // what is bound is only looked up for a warning
		return file.compile(alone), nil
	}
	if err != nil {
		return Entry{}, err
	}
	// A file of a source has the rest of the folder of that source beside it too, as when it is
	// named by its id.
	for _, f := range others.Files {
		if f.Kind == n.File.Kind && f.Ref == n.File.Ref && f.Folder != "" {
			return file.compile(others.index(parse(others.Files)).library(f)), nil
		}
	}
	// Bundled files are first, files beside the named one last: only its own references find them
	// before others.
	others.Files = append(others.Files[:len(others.Files):len(others.Files)], beside...)
	return file.compile(others.index(parse(others.Files)).library(n.File)), nil
}

// complete reports whether groups have all routines to which refs lead, and no prompt is needed.
func complete(refs compile.References, groups []compile.Routines) bool {
	seen := map[string]bool{}
	var visit func(compile.References) bool
	visit = func(refs compile.References) bool {
		for _, name := range refs.Routines {
			if seen[name] {
				continue
			}
			seen[name] = true
			src, ok := find(groups, name)
			if !ok || !visit(compile.ReferencesOf(src)) {
				return false
			}
		}
		return !refs.Prompts
	}
	return visit(refs)
}

// find returns the routine with a name from the first group that has it.
func find(groups []compile.Routines, name string) (source.Source, bool) {
	for _, g := range groups {
		if src, ok := g.Find(name); ok {
			return src, true
		}
	}
	return source.Source{}, false
}
