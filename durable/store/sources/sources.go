// Package sources defines the list of attached folders: folders with other people's workflows whose
// files a person made usable by their ids (docs/design.md#workflow-sources). The list belongs to the
// machine, not to a store, because it has absolute paths.
//
// It reads no files and asks no questions. Start with List.
package sources

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/pattern"
)

// Kind and Version are those of the control file sources.json.
const (
	Kind    = "sources"
	Version = 1
)

// foldersMax bounds the folders, each of which is read when workflows are listed. dirBytesMax bounds
// the path of one.
const (
	foldersMax  = 100
	dirBytesMax = 4096
)

// Folder is one attached folder.
type Folder struct {
	Actor event.Actor `json:"actor"`
	AtMs  int64       `json:"atMs"`
	Dir   string      `json:"dir"` // the absolute path on this machine, links resolved
	Name  string      `json:"name"`
}

// List is all attached folders, in the order in which they were attached. The zero List is empty. A
// List is immutable.
type List struct {
	Folders []Folder `json:"folders"`
	// Store is the absolute path of the store whose audit log records that a person confirmed the
	// folders; any store of the machine believes it.
	Store string `json:"store"`
}

// Read returns the list of stored data; null, of a machine where nothing was ever attached, is the
// empty list. Data with any other form, unknown members included, is STORE_CORRUPT.
func Read(data canon.Value) (List, error) {
	var l List
	if data.IsNull() {
		return l, nil
	}
	if err := canon.Decode(data, &l); err != nil {
		return List{}, fault.Wrap(err, fault.StoreCorrupt, "sources.json does not have the form of version %d: %v",
			Version, err)
	}
	for i, f := range l.Folders {
		if !IsName(f.Name) || slices.ContainsFunc(l.Folders[:i], func(o Folder) bool { return o.Name == f.Name }) {
			return List{}, fault.New(fault.StoreCorrupt, "sources.json has a name twice, or one that cannot be given")
		}
	}
	return l, nil
}

// Data returns the data of the control file for l.
func (l List) Data() (canon.Value, error) {
	if l.Folders == nil {
		l.Folders = []Folder{}
	}
	return canon.ValueOf(l)
}

// Digest identifies the folders that a person confirmed. The digest of no folder is that of a
// machine without the file.
func (l List) Digest() (canon.Digest, error) {
	data, err := List{Folders: l.Folders}.Data()
	return canon.Sum(data.JCS()), err
}

// Of returns the folder with a name.
func (l List) Of(name string) (Folder, bool) {
	i := slices.IndexFunc(l.Folders, func(f Folder) bool { return f.Name == name })
	if i < 0 {
		return Folder{}, false
	}
	return l.Folders[i], true
}

// With returns l with one more folder. Errors are VALIDATION_ERROR: the name cannot be given or is
// taken, or the folder is, contains, or is in, another attached folder, so that its files would be
// found twice. STORE_LIMIT: the list is full.
func (l List) With(f Folder) (List, error) {
	if err := CheckName(f.Name); err != nil {
		return l, err
	}
	for _, other := range l.Folders {
		// Names that differ in letter case only are read as one in a list, and so are ids beside them.
		if strings.EqualFold(other.Name, f.Name) && other.Dir != f.Dir {
			return l, fault.New(fault.ValidationError, "the name %q is that of another attached folder, %s", f.Name,
				other.Name).Suggest("Give another name with --name, or detach that folder with %s.",
				fault.Command{"workflows", "detach", other.Name})
		}
		if within(f.Dir, other.Dir) || within(other.Dir, f.Dir) {
			return l, fault.New(fault.ValidationError, "%s", overlap(f, other)).
				Suggest("Detach that folder first with %s.", fault.Command{"workflows", "detach", other.Name})
		}
	}
	switch {
	case len(f.Dir) > dirBytesMax || !utf8.ValidString(f.Dir):
		return l, fault.New(fault.ValidationError, "the path of the folder has more than %d bytes, or is not UTF-8",
			dirBytesMax).Suggest("Move or rename the folder.")
	case len(l.Folders) >= foldersMax:
		return l, fault.New(fault.StoreLimit, "%d folders are attached, which is the maximum", len(l.Folders)).
			Suggest("Detach those that are not used with %s.", fault.Command{"workflows", "detach", "NAME"})
	}
	l.Folders = append(slices.Clone(l.Folders), f)
	return l, nil
}

// overlap states how a folder and an attached one overlap.
func overlap(f, other Folder) string {
	switch {
	case f.Dir == other.Dir:
		return "the folder is attached already, as " + other.Name
	case within(f.Dir, other.Dir):
		return "the folder is in one that is attached, as " + other.Name
	}
	return "the folder contains one that is attached, as " + other.Name
}

// Without returns l without a folder.
func (l List) Without(name string) List {
	l.Folders = slices.DeleteFunc(slices.Clone(l.Folders), func(f Folder) bool { return f.Name == name })
	return l
}

// within reports that a path is dir or below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || strings.HasSuffix(dir, "/") || rest[0] == '/' || rest[0] == '\\')
}

// nameLengthMax bounds a name, in bytes.
const nameLengthMax = 64

// The form of names. They are part of references, shown beside ids and typed in a shell.
var (
	name      = pattern.New(`^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)
	notInName = pattern.New(`[^a-z0-9_-]+`)
)

// reserved are names that are shown for other sources: the references of installed workflows begin
// with the first, and the second marks a workflow that came with an import.
var reserved = []string{"installed", "imported"}

// IsName reports whether a name can be that of an attached folder.
func IsName(s string) bool {
	return len(s) <= nameLengthMax && name.MatchString(s) && !slices.Contains(reserved, strings.ToLower(s))
}

// CheckName returns VALIDATION_ERROR for a name that cannot be given.
func CheckName(s string) error {
	if IsName(s) {
		return nil
	}
	return fault.New(fault.ValidationError,
		"%q cannot be the name of an attached folder: names are 1 to %d letters, digits, _, - and single dots, and not %s",
		s, nameLengthMax, strings.Join(reserved, " or ")).
		Suggest("Give another name with --name.")
}

// SuggestName returns the name for a folder whose last element is base, "" if no name can be made of
// it.
func SuggestName(base string) string {
	s := strings.Trim(notInName.ReplaceAllString(strings.ToLower(base), "-"), "-_")
	s = s[:min(len(s), nameLengthMax)]
	if !IsName(s) {
		return ""
	}
	return s
}
