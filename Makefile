# Waybill: what can be made. "make" alone prints this list.
#
# Only Go, git and make are needed. "make check" is what CI runs.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
# Without HTTP/2, which no server and no client of the program speaks: docs/decisions/0085-http-1-only-in-the-binary.md.
TAGS    := nethttpomithttp2
GO      := go
# The tests, the linters and the binary are compiled with the same flags, once.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath -tags=$(TAGS))
# Compilers, linters and tests collect garbage less often: with 400 they need a quarter less processor time, and 1.2 GB.
export GOGC ?= 400
# The systems for which "make lint" checks the types; "make build" compiles for all.
CHECKED := darwin/arm64 windows/amd64
TARGETS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# Packages that start goroutines, or whose tests do: the race detector runs on these.
# What cmd/waybill races is processes, which it cannot see.
STARTS := ^[[:space:]]*go [a-zA-Z_.]+\(|\.Go\(|porttest/suite"
RACE   = $(shell grep -rlE '$(STARTS)' --include='*.go' ports infra durable cmd/waybill/cli cmd/waybill/work | sed 's|^|./|; s|/[^/]*$$||' | sort -u)

# What tries crashes and faults on a simulated disk does so in one goroutine: nothing
# there could race. What measures memory and long lists says nothing under the detector.
ALONE := ^Test(StreamsNeedConstantMemory|APageOfTheInboxIsBounded|IndexedLists|ABundleGives|ExchangedSessions|Every(ChangedByte|DamageTo|FlippedByte|Truncation|MoveFrom)|NoChangedByte|TornRule|PlainGroups|AnyWalk|NotesChangeNoAnswer|ErasedAndLargeResults|AScenarioCanFail|RewindBeyond|PagesOfAnnotations|Resume(Searches|Reads)|AnswersDoNotDependOnTheHeadCache|Faults|Explore|Crashes|HeadCacheNeverFails|(Append|Import|Repair|Rotation)(Crashes|Faults|Mutants|ReportsEveryFault))

# Shows failures, then the seconds of each package, and fails when go test failed.
SUMMARY := $(GO) run ./testdata/testsummary

export CGO_ENABLED = 0

.DEFAULT_GOAL := help
.PHONY: man web pictures workflows statements mutants exhaustive help demo test check nightly vuln bench fuzz build binary cross lint race independent torture-pg clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: binary cross ## bin/waybill, and the same for every platform under dist/

binary: ## bin/waybill alone: one static binary with its version stamped
	@mkdir -p bin
	$(GO) build -trimpath -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o bin/waybill ./cmd/waybill

cross: ## dist/: for linux, darwin and windows on amd64 and arm64
	@mkdir -p dist
	@for t in $(TARGETS); do \
	  os=$${t%/*}; arch=$${t#*/}; ext=; [ $$os = windows ] && ext=.exe; \
	  echo "  $$os/$$arch"; \
	  GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o dist/waybill-$$os-$$arch$$ext ./cmd/waybill || exit 1; \
	done

# A package installs man/*.1 in share/man/man1, and what 'waybill completion SHELL' prints where its shells look for it.
man: ## man/: one page for each command, from the texts of its help
	$(GO) test ./cmd/waybill -count 1 -run '^TestManPages$$' -man "$(CURDIR)/man"

demo: binary ## kill a run, continue it, find a changed byte; needs no terminal
	@sh testdata/demo.sh

# Many tests wait for a process or a disk: four of a package at a time keep two processors busy. Their vet is that of "make lint".
PACKAGES ?= ./...
test: ## all tests, with the seconds of each package; no network, no C compiler, nothing outside this folder
	@{ $(GO) test -json -vet off -parallel 4 -timeout 30m $(PACKAGES); echo "exit $$?"; } | $(SUMMARY)

lint: ## gofmt, vet, the types of the code for darwin and windows, and staticcheck
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) run ./testdata/typecheck $(CHECKED)
	$(GO) tool staticcheck ./...

race: ## the race detector on the packages that have concurrency; needs a C compiler
	@if command -v "$${CC:-cc}" >/dev/null 2>&1; then \
	  { CGO_ENABLED=1 $(GO) test -json -vet off -race -short -skip '$(ALONE)' $(RACE); echo "exit $$?"; } | $(SUMMARY); \
	else echo "race: skipped, there is no C compiler"; fi

independent: binary ## check a store with a verifier that was written from docs/format.md alone
	@if command -v python3 >/dev/null 2>&1; then sh testdata/independent/check.sh; \
	else echo "independent: skipped, there is no python3"; fi

KILLS ?= 100
SEED ?= 1
torture-pg: ## kill primaries of PostgreSQL under writers: KILLS (100) times, as SEED (1) selects; PATRONI=1: Patroni fails over
	@$(GO) run ./testdata/torture -kills $(KILLS) -seed $(SEED) $(if $(PATRONI),-patroni)

# The tests of a default run try a sample of each enumeration: crash states, faults,
# changed bytes, rounds. WAYBILL_SAMPLE_SEED=N selects another sample.
exhaustive: ## every case of every enumeration that 'make test' tries a sample of, and how many there are
	@{ WAYBILL_EXHAUSTIVE=1 $(GO) test -json -timeout 120m ./...; echo "exit $$?"; } | $(SUMMARY) -cases

workflows: binary ## the tests of the bundled workflows, performed by the program itself
	@for t in infra/discovery/bundled/*.test.yaml; do \
	  id=$$(basename $$t .test.yaml); bin/waybill workflows test $$id --coverage || exit 1; \
	done

web: binary ## the report and the console in a browser; skipped without node, npm or Chromium
	@sh testdata/web/run.sh web

pictures: binary ## docs/pictures, which README.md and docs/tour.md show, from a real run; needs what 'make web' needs
	@sh testdata/web/run.sh pictures

check: lint test ## everything that must hold on main
	@$(MAKE) --no-print-directory -j 3 race independent workflows web binary

nightly: check build exhaustive ## check, all builds, every case of every enumeration, and each fuzz target for ten minutes
	$(MAKE) fuzz FUZZTIME=10m

vuln: ## known vulnerabilities in dependencies (govulncheck); needs network
	@if $(GO) tool govulncheck -version 2>/dev/null | grep -q 'DB updated'; then $(GO) tool govulncheck ./...; \
	else echo "vuln: skipped, the vulnerability database https://vuln.go.dev cannot be reached"; fi

bench: ## speed, side by side with its baselines in one run
	cd testdata/bench && env -u GOGC $(GO) run .

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME (20s) each
	@$(GO) list ./... | while read -r pkg; do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; \
	done

mutants: ## break each promise of SECURITY.md in the code, and print the test that fails
	@$(GO) run ./testdata/mutants

statements: ## how many statements the code has, without tests and test doubles
	@$(GO) run ./testdata/statements .

clean: ## remove what was built
	rm -rf bin dist man testdata/web/node_modules
