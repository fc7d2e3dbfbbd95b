package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/cmd/waybill/cli/stores"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// deployed is what the examples of docs/deploy have: command lines of the program, variables of its environment and images.
type deployed struct {
	calls  [][]string
	env    map[string]string
	images []string
}

// deployDir has the examples.
const deployDir = "../../docs/deploy"

// read adds what a value of a YAML file has.
func (d *deployed) read(v canon.Value) {
	words, name := []string(nil), ""
	for i := range v.Len() {
		one := v.Item(i)
		d.read(one)
		if one.Kind() != canon.String {
			continue
		}
		words = append(words, one.Text())
		if v.Kind() != canon.Object {
			continue
		}
		switch key := v.Key(i); {
		case key == "image":
			d.images = append(d.images, one.Text())
		case key == "name":
			name = one.Text()
		case key == "value":
			d.env[name] = one.Text()
		case variable.MatchString(key):
			d.env[key] = one.Text()
		}
	}
	if v.Kind() == canon.Array && len(words) == v.Len() && len(words) > 0 && filepath.Base(words[0]) == "waybill" {
		d.calls = append(d.calls, words[1:])
	}
}

// variable matches the name of an environment variable.
var variable = regexp.MustCompile("^[A-Z][A-Z_]+$")

// readUnit adds what a unit of systemd has.
func (d *deployed) readUnit(text string) {
	for _, line := range strings.Split(text, "\n") {
		key, value, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(key, "Exec"):
			words := strings.Fields(value)
			if filepath.Base(words[0]) == "waybill" {
				d.calls = append(d.calls, words[1:])
			}
		case key == "Environment":
			for _, one := range strings.Fields(value) {
				name, value, _ := strings.Cut(one, "=")
				d.env[name] = value
			}
		}
	}
}

// TestDeployExamples: each command line in docs/deploy is one that the program accepts, each store can be selected, each variable is one
// that the documentation has, and no password, no right to do everything and no image without a version is in them.
func TestDeployExamples(t *testing.T) {
	t.Parallel()
	d, known := deployed{env: map[string]string{}}, "HOME NODE" // NODE is the one of node.sh
	for _, pattern := range []string{"/*/*.yaml", "/*/*.service", "/README.md"} {
		files, err := filepath.Glob(deployDir + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			switch filepath.Ext(path) {
			case ".yaml":
				v, err := yaml.Parse(data)
				if err != nil {
					t.Errorf("%s: %v", path, err)
				}
				d.read(v)
			case ".service":
				d.readUnit(string(data))
			default:
				d.calls = append(d.calls, callsIn(string(data))...)
			}
			if found := regexp.MustCompile(`(?i)://[^@/ ]*:[^@/ ]*@|PGPASSWORD|privileged: *true|:latest|User=root`).Find(data); found != nil {
				t.Errorf("%s has %q", path, found)
			}
		}
	}
	if len(d.calls) < 8 || len(d.images) < 6 || d.env["WAYBILL_STORE"] == "" {
		t.Errorf("the examples have %v", d)
	}
	for _, call := range d.calls {
		if err := parse(call); err != nil {
			t.Errorf("waybill %s: %v", strings.Join(call, " "), err)
		}
		for i, word := range call {
			if i > 0 && call[i-1] == "--store" {
				d.env["--store "+word] = word
			}
		}
	}
	for _, path := range []string{"../../docs/machines.md", "../../docs/deploy/README.md", "../../docs/guide/README.md"} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		known += string(data)
	}
	for name, value := range d.env {
		if stores.IsURL(value) {
			if err := stores.CheckURL(value); err != nil {
				t.Errorf("%s: %v", value, err)
			}
		}
		if variable.MatchString(name) && !strings.Contains(known, name) {
			t.Errorf("the variable %s is in no documentation", name)
		}
	}
	for _, image := range d.images {
		if !regexp.MustCompile(`:[0-9]+\.[0-9]`).MatchString(image) {
			t.Errorf("the image %s has no version", image)
		}
	}
	dockerfile, err := os.ReadFile(deployDir + "/compose/Dockerfile")
	if err != nil || !regexp.MustCompile(`(?m)^FROM [a-z]+:[0-9]+\.[0-9]`).Match(dockerfile) || !strings.Contains(string(dockerfile), "\nUSER waybill\n") {
		t.Errorf("the image of Waybill has no version or no user: %s, %v", dockerfile, err)
	}
}

// TestDeployExamplesOfTools asks the programs that read the examples, where they exist.
func TestDeployExamplesOfTools(t *testing.T) {
	t.Parallel()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(deployDir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copied, "compose/pgpass"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	units, err := filepath.Glob(copied + "/systemd/*.service")
	if err != nil || len(units) == 0 {
		t.Fatalf("no units: %v", err)
	}
	for _, unit := range units { // the program of a unit has to exist
		data, err := os.ReadFile(unit)
		if err == nil {
			err = os.WriteFile(unit, []byte(strings.ReplaceAll(string(data), "/usr/local/bin/waybill", "/bin/true")), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range [][]string{
		append([]string{"systemd-analyze", "verify"}, units...),
		{"docker-compose", "-f", copied + "/compose/compose.yaml", "config", "-q"},
		{"docker", "compose", "-f", copied + "/compose/compose.yaml", "config", "-q"},
		{"kubeconform", "-strict", copied + "/kubernetes/workers.yaml"},
		{"sh", "-n", copied + "/compose/node.sh"},
	} {
		t.Run(strings.Join(tool[:2], " "), func(t *testing.T) {
			if _, err := exec.LookPath(tool[0]); err != nil || runtime.GOOS != "linux" {
				t.Skipf("%s is not installed", tool[0])
			}
			if tool[0] == "docker" && exec.Command("docker", "compose", "version").Run() != nil {
				t.Skip("docker has no compose")
			}
			if out, err := exec.Command(tool[0], tool[1:]...).CombinedOutput(); err != nil || slices.Contains(tool, "verify") && len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
