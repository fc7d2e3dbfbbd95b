package placeholder

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

// TestCheckArgv: an argv, its elements separated by "|", and the indices that are refused.
func TestCheckArgv(t *testing.T) {
	for argv, want := range map[string]string{
		"deploy|{{s}}": "", "{{s}}|x": "0", "./{{s}}": "0", "deploy|-c|{{s}}": "", "deploy|{{s}}|--|{{v}}": "",
		"sh|-c|echo {{s}}": "2", "sh|-c|echo \"$1\"|--|{{s}}": "", "sh|{{s}}": "", "sh|deploy.sh|{{s}}": "",
		"/bin/bash|-lc|{{s}}": "2", "bash|-euxc|{{s}}": "2", "bash|-c|-x|{{s}}": "3", "bash|-c|--|{{s}}": "3", "bash|-ce|{{s}}": "2",
		"bash|-c|{{a}}|{{b}}": "2", "bash|+ec|{{s}}": "2", "bash|-e|{{s}}": "2", "bash|-e|run.sh|{{s}}": "",
		"bash|-o|pipefail|-c|{{s}}": "4", "bash|run.sh|-service|{{s}}": "", "bash|run.sh|--count|{{s}}": "",
		"bash|--command={{s}}": "1", "fish|--command|{{s}}": "2", "zsh|-c={{s}}": "1", "bash-5.2|-c|{{s}}": "2",
		"env|bash|-c|{{s}}": "3", "sudo|-u|x|sh|-c|{{s}}": "5", "docker|exec|{{c}}|sh|-c|{{s}}": "5", "xargs|sh|-c|{{s}}": "3",
		"docker|run|--entrypoint=sh|img|-c|{{s}}": "5", "busybox|sh|-c|{{s}}": "3", "C:\\Windows\\bash.exe|-c|{{s}}": "2",
		"su|-c|{{s}}|user": "2", "script|-qc|{{s}}": "2", "flock|f|-c|{{s}}": "3",
		"python3|-c|print({{s}})": "2", "python3.11|-Ic|{{s}}": "2", "python|x.py|{{s}}": "", "python|-c'{{s}}'": "1",
		"python|-c|import sys|{{s}}": "", "python|x.py|-config={{s}}": "", "python|x.py|--class|{{s}}": "",
		"perl|-e|{{s}}": "2", "perl|-ne|{{s}}": "2", "perl|-E|{{s}}": "2", "perl|-e'{{s}}'": "1", "perl|x.pl|-name|{{s}}": "",
		"ruby|-e|{{s}}": "2", "ruby|x.rb|-environment={{s}}": "", "lua5.4|-e|{{s}}": "2",
		"node|--eval|{{s}}": "2", "node|--eval={{s}}": "1", "node18|-e|{{s}}": "2", "node|-p|{{s}}": "2", "node|server.js|-p|{{s}}": "",
		"node|--print={{s}}": "1", "deno|eval|{{s}}": "2", "php|-r|{{s}}": "2", "php|x.php|-r|{{s}}": "",
		"cmd|/c|echo|{{s}}": "3", "cmd.exe|/C|{{s}}": "2", "CMD|/k|a|{{s}}|{{t}}": "3,4",
		"pwsh|-Command|Write|{{s}}": "3", "powershell.exe|-c|{{s}}": "2", "R|-e|{{s}}": "2", "Rscript|-e|{{s}}": "2",
		"psql|-c|select {{s}}": "2", "psql|-p|{{s}}": "", "sed|-e|{{s}}": "2", "osascript|-e|{{s}}": "2", "vim|-c|{{s}}": "2",
		"git|-c|{{s}}": "", "tar|-c|{{s}}": "", "curl|-e|{{s}}": "",
		"ssh|{{h}}|uptime": "", "ssh|h|uptime|{{s}}": "3", "ssh|h|{{s}}": "2", "ssh|-p|22|-i|{{k}}|h|x|{{s}}": "7",
		"ssh|-v|h|{{s}}": "3", "ssh|--|{{h}}|{{s}}": "3", "ssh|h|--|x|{{s}}": "4", "timeout|5|ssh|h|{{s}}": "4",
		"ssh|-p{{n}}|h|x": "", "ssh|-o|ProxyCommand={{s}}|h": "2", "ssh|-oProxyCommand={{s}}|h": "1", "ssh|-o|{{s}}|h": "2",
		"ssh|-o|User={{s}}|h": "", "rsync|-e|ssh|a|{{s}}": "", "/usr/bin/ssh|h|{{s}}": "2",
		"env|PATH={{s}}|x": "1", "env|V={{s}}|x": "", "sudo|LD_PRELOAD={{s}}|x": "1", "x|PATH={{s}}": "",
		"sh|-c|{wr.x}": "", "sh|-c|{{wr.x}}": "", "": "",
	} {
		var got []string
		for _, r := range CheckArgv(strings.Split(argv, "|")) {
			got = append(got, string(rune('0'+r.Index)))
			if r.Why == "" || r.Fix == "" {
				t.Errorf("%s: %+v", argv, r)
			}
		}
		if text := strings.Join(got, ","); text != want {
			t.Errorf("%s: refuses %q, want %q", argv, text, want)
		}
	}
}

// TestCodeVariable: names that programs read as code, by prefix or as a whole.
func TestCodeVariable(t *testing.T) {
	for _, name := range strings.Fields("PATH LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES BASH_ENV BASH_FUNC_x%% ENV IFS " +
		"PYTHONPATH PYTHONSTARTUP PERL5LIB PERL5OPT RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH GIT_SSH_COMMAND GIT_CONFIG_COUNT GIT_DIR " +
		"JAVA_TOOL_OPTIONS _JAVA_OPTIONS CLASSPATH PROMPT_COMMAND PS4 SHELLOPTS HOME EDITOR PAGER MAKEFLAGS GOFLAGS CC WAYBILL_X path") {
		if !CodeVariable(name) {
			t.Errorf("%s may be filled", name)
		}
	}
	for _, name := range strings.Fields("SERVICE VERSION ENVIRONMENT NODE_ENV DOCKER_TAG KUBE_NAMESPACE JAVA_VERSION USER LANG TZ " +
		"PORT PATH_TO_IT MY_PATH COMMIT HOMEPAGE AWS_REGION") {
		if CodeVariable(name) {
			t.Errorf("%s may not be filled", name)
		}
	}
}

// TestSplit: the parts of a text are the text, and braces of any other form are literal.
func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "'a'", "{{a}}": "a", "x{{ a.b }}y": "'x' a.b 'y'", "{{a}}{{b}}": "a b", "{{wr.x}}{{a}}z": "'{{wr.x}}' a 'z'",
		"{{a": "'{{a'", "{{1}}": "'{{1}}'", "{{{a}}}": "'{' a '}'", "{{a\n}}": "'{{a\n}}'", "{{ä}}": "'{{ä}}'", "x{{wr.x}}y": "'x{{wr.x}}y'",
	} {
		var got []string
		whole := ""
		for _, p := range Split(text) {
			if whole += p.Text; p.Path != "" {
				got = append(got, p.Path)
			} else {
				got = append(got, "'"+p.Text+"'")
			}
		}
		if s := strings.Join(got, " "); s != want || whole != text {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
	}
	if got := Tokens("{{b}} {{wr.y}} {{ wr.x }} {{wr.y}} {{wr"); strings.Join(got, " ") != "wr.y wr.x" {
		t.Errorf("tokens %q", got)
	}
	if v, err := canon.Parse([]byte(`{"b": 1, "a": [true]}`)); err != nil || Text(v) != `{"a":[true],"b":1}` || Text(canon.OfString("a b")) != "a b" {
		t.Errorf("text %q, %v", Text(v), err)
	}
	if got := Paths("{{b}} {{a}} {{ b }} {{a.c}} {{wr.x"); strings.Join(got, " ") != "b a a.c" || !In("x{{a}}") || In("{{wr.a}}") {
		t.Errorf("%q", got)
	}
}
