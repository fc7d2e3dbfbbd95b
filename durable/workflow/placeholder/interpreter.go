package placeholder

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// interpreter is how a program takes code in its arguments. Every one takes it after the options
// of codeOptions.
type interpreter struct {
	// more are options that it has in addition.
	more []string
	// cluster matches joined short options of which the last one takes the code; attached matches
	// the beginning of such an option and of its code in one element. nil for none. Their letters
	// are those of the program's options, so that a word such as -service is not one.
	cluster, attached *pattern.Pattern
	options           bool // options may follow before the code
	rest              bool // the code is all of the elements that follow
}

// codeOptions take code in the next element, or behind "=", with every interpreter.
var codeOptions = []string{"-c", "-e", "--eval", "--command", "/c", "/C"}

// before reports an element after which code follows, also behind the name of a script: it may
// be an option of another program on the way to the interpreter.
func (k *interpreter) before(element string) bool {
	return slices.Contains(codeOptions, element) || k.cluster != nil && k.cluster.MatchString(element)
}

// alsoBefore reports an option of this interpreter after which code follows.
func (k *interpreter) alsoBefore(element string) bool {
	return slices.Contains(k.more, element) || k.rest && slices.Contains(k.more, strings.ToLower(element))
}

// within reports an element of an option and its code.
func (k *interpreter) within(element string) bool {
	option, _, joined := strings.Cut(element, "=")
	return joined && (k.before(option) || k.alsoBefore(option)) || k.attached != nil && k.attached.MatchString(element)
}

// interpreters are programs that read an argument as code, by their base names.
var interpreters = func() map[string]*interpreter {
	out := map[string]*interpreter{}
	for _, group := range []struct {
		names string
		as    interpreter
	}{
		{"sh bash rbash dash ash zsh ksh mksh pdksh oksh yash posh fish csh tcsh elvish nu xonsh osh ysh busybox su runuser " +
			"script flock", interpreter{options: true, more: []string{"-C", "--init-command"},
			cluster: pattern.New(`^[-+](?:[aefhilmnpqrstuvxBCDEHPT]*c|c[aefhilmnpqrstuvxBCDEHPT]{1,2})$`)}},
		{"python pythonw pypy jython ipython", interpreter{cluster: pattern.New(`^-[bBdEhiIOPqsSuvVWxX]*c$`),
			attached: pattern.New(`^-[bBdEiIOPqsSuvx]*c[^A-Za-z0-9_-]`)}},
		{"perl ruby jruby truffleruby lua luajit texlua", interpreter{more: []string{"-E"},
			cluster:  pattern.New(`^-[nplawsWx0-9]*[eE]$`),
			attached: pattern.New(`^-[nplawsW0-9]*[eE][^A-Za-z0-9_-]`)}},
		{"node nodejs deno bun tsx ts-node", interpreter{more: []string{"-p", "--print", "-pe", "-ep", "eval"}}},
		{"php", interpreter{more: []string{"-r", "--run", "-B", "-R", "-E", "--process-begin", "--process-code", "--process-end"},
			attached: pattern.New(`^-[rBRE][^A-Za-z0-9_-]`)}},
		{"sed gsed", interpreter{more: []string{"--expression"}}},
		{"awk gawk mawk nawk", interpreter{more: []string{"--source"}}},
		{"erl elixir iex", interpreter{more: []string{"-eval", "--rpc-eval"}}},
		{"R Rscript julia ghc ghci scala groovy swift clojure clj bb racket guile gosh sbcl ecl clisp octave matlab wolframscript " +
			"jshell kotlin raku rakudo expect osascript", interpreter{more: []string{"-E", "--print", "-r", "-code", "-batch"}}},
		{"psql mysql mariadb sqlite3 mongo mongosh", interpreter{more: []string{"-cmd", "--execute"}}},
		{"gdb lldb vim vi nvim ex emacs emacsclient", interpreter{more: []string{"-ex", "-o", "--execute", "-eval", "-cmd", "--cmd"}}},
		{"cmd powershell pwsh", interpreter{rest: true, more: []string{"/k", "/r", "-command", "-commandwithargs", "-cwa",
			"-com", "-encodedcommand", "-enc", "-ec"}}},
	} {
		for _, name := range strings.Fields(group.names) {
			out[name] = &group.as
		}
	}
	return out
}()

// version ends the name of a program that is installed in several.
var version = pattern.New(`[-0-9.]+$`)

// baseName returns the name of the program that an element may be: without folders, version and
// ".exe". Of an element such as --entrypoint=sh it is that of the value.
func baseName(element string) string {
	name := element[strings.LastIndexAny(element, `/\=`)+1:]
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".EXE")
	name = version.ReplaceAllString(name, "")
	if _, known := interpreters[name]; known {
		return name
	}
	return strings.ToLower(name)
}
