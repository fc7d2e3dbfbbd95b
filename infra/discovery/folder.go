package discovery

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// filesMax bounds how many files of one folder are read: a folder of workflows
// holds dozens, and one that was named by mistake may hold a million.
const filesMax = 1000

// folder is one place that holds workflow files.
type folder struct {
	kind   source.SourceKind
	dir    string
	prefix string // of refs
	flat   bool   // folders in it are not looked into
}

// files reads all workflow files below the folder. Links are followed as long as
// they stay inside: os.Root refuses the others, and they are listed so.
func (f folder) files() []catalog.File {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return []catalog.File{f.unreadable("", err)}
	}
	defer root.Close()
	var out []catalog.File
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			out = append(out, f.unreadable(name, err))
			return fs.SkipDir
		case d.IsDir() && name != "." && (f.flat || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !isWorkflowName(name):
			return nil
		case len(out) == filesMax:
			out = append(out, f.unreadable(name,
				fmt.Errorf("the folder holds more than %d workflow files; this one and those after it were not read",
					filesMax)))
			return fs.SkipAll
		}
		out = append(out, f.read(root, name))
		return nil
	})
	return out
}

// isWorkflowName reports a file name that may hold a workflow.
func isWorkflowName(name string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml"}, strings.ToLower(path.Ext(name)))
}

func (f folder) read(root *os.Root, name string) catalog.File {
	// What is no regular file is not opened: a pipe would never answer.
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return f.unreadable(name, err)
	}
	file, err := root.Open(name)
	if err != nil {
		return f.unreadable(name, err)
	}
	defer file.Close()
	data, err := readAll(file)
	if err != nil {
		return f.unreadable(name, err)
	}
	return catalog.File{Kind: f.kind, Ref: f.prefix + name, Data: data}
}

func (f folder) unreadable(name string, err error) catalog.File {
	ref := strings.TrimSuffix(f.prefix+name, "/")
	if ref == "" || ref == "." {
		ref = "workflows"
	}
	return catalog.File{Kind: f.kind, Ref: ref, Err: fmt.Errorf("the file cannot be read: %s", why(err))}
}

// why is the cause without the machine's paths.
func why(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}

// readAll reads at most as much as a workflow file may hold, whatever its size
// was said to be.
func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limits.SourceBytesMax+1))
	if err == nil && len(data) > limits.SourceBytesMax {
		return nil, fmt.Errorf("it has more than %d bytes, which is the most that is accepted", limits.SourceBytesMax)
	}
	return data, err
}
