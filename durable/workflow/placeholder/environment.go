package placeholder

import (
	"slices"
	"strings"
)

// Environment variables that loaders, shells, interpreters, build tools and git read as code,
// as options, or as the paths of either. A value of the context in one of them would choose what
// is executed, although the command that a person trusted stays the same. The names are compared
// in upper case: some programs read both spellings.
var (
	codePrefixes = []string{
		"LD_", "DYLD_", "GCONV_", "GLIBC_", "BASH_", "ZSH_", "KSH_", "PYTHON", "PERL5", "RUBY", "LUA_", "GIT_",
		"NPM_CONFIG_", "BUNDLE_", "PIP_", "CORECLR_", "JULIA_", "XDG_CONFIG_", "SSH_ASKPASS", "WAYBILL_",
	}
	codeNames = []string{
		// Shells, and what they read of a login.
		"PATH", "ENV", "IFS", "HOME", "SHELL", "SHELLOPTS", "PWD", "OLDPWD", "CDPATH", "FPATH", "ZDOTDIR", "FCEDIT",
		"PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT_COMMAND", "MAILPATH", "INPUTRC", "TMPDIR", "SUDO_ASKPASS",
		// Programs that other programs start.
		"EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESS", "LESSOPEN", "LESSCLOSE", "LESSKEY", "VIMINIT",
		"EXINIT", "MYVIMRC", "EMACSLOADPATH", "RSYNC_RSH", "CVS_RSH", "SVN_SSH", "HGRCPATH", "TAR_OPTIONS",
		// Interpreters, and the options that they read.
		"PERLLIB", "PERLDB", "PERL_MM_OPT", "NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "NODE_REPL_EXTERNAL_MODULE",
		"PHPRC", "PHP_INI_SCAN_DIR", "GEM_HOME", "GEM_PATH", "AWKPATH", "AWKLIBPATH", "TCLLIBPATH", "GUILE_LOAD_PATH",
		"GUILE_LOAD_COMPILED_PATH", "R_PROFILE", "R_PROFILE_USER", "R_ENVIRON", "R_ENVIRON_USER", "R_LIBS", "R_LIBS_USER",
		"R_HOME", "ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS", "ERL_LIBS", "ELIXIR_ERL_OPTIONS", "GHCRTS", "VIRTUAL_ENV",
		"JAVA_HOME", "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "ANT_OPTS",
		"MAVEN_OPTS", "MAVEN_ARGS", "GRADLE_OPTS", "SBT_OPTS", "DOTNET_STARTUP_HOOKS", "DOTNET_ROOT",
		"DOTNET_ADDITIONAL_DEPS", "PSMODULEPATH",
		// Build tools.
		"MAKEFLAGS", "MFLAGS", "MAKEFILES", "GNUMAKEFLAGS", "CC", "CXX", "LD", "AR", "CFLAGS", "CXXFLAGS", "CPPFLAGS",
		"LDFLAGS", "GOFLAGS", "GOPATH", "GOROOT", "GOENV", "GOBIN", "GOTOOLCHAIN", "CGO_CFLAGS", "CGO_LDFLAGS",
		"CARGO_HOME", "RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS", "RUSTUP_HOME",
		"RUSTUP_TOOLCHAIN", "CMAKE_TOOLCHAIN_FILE",
		// Files of settings that name programs, and loaders of other libraries.
		"KUBECONFIG", "DOCKER_CONFIG", "AWS_CONFIG_FILE", "CURL_HOME", "WGETRC", "OPENSSL_CONF", "OPENSSL_ENGINES",
		"OPENSSL_MODULES", "GTK_PATH", "GTK_MODULES", "QT_PLUGIN_PATH", "NLSPATH", "LOCPATH", "TERMINFO", "TERMCAP",
		"HOSTALIASES",
	}
)

// CodeVariable reports whether an environment variable is read as code or as a path to it, so that
// no value of the context may fill it.
func CodeVariable(name string) bool {
	name = strings.ToUpper(name)
	return slices.Contains(codeNames, name) ||
		slices.ContainsFunc(codePrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
