# ibid: commands by task. `make` alone lists them.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
BIN     := bin/ibid
GOFUMPT := mvdan.cc/gofumpt@v0.12.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
FUZZTIME ?= 20s
PREFIX  ?= /usr/local

.PHONY: help build install home man notices run test night simulate race fuzz torture vulns bench scale frozen lint fmt golden screenshots check
.DEFAULT_GOAL := help

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/ibid, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN) ./cmd/ibid

install: build ## put the program into PREFIX/bin (/usr/local)
	install -d '$(DESTDIR)$(PREFIX)/bin'
	install -m 755 $(BIN) '$(DESTDIR)$(PREFIX)/bin/ibid'

run: build ## evaluate the embedded sample: the main job, from nothing to scores
	$(BIN) init --force runs/sample
	$(BIN) run runs/sample/ibid.yaml --out runs --id sample-night-1

test: ## run the tests; needs nothing but Go
	$(GO) test -timeout 25m ./...

# What kills processes or tries random mixtures is a quarter as large in make test.
night: ## what make test has a part of, whole: kills, subsets, faults of the disk
	IBID_NIGHT=1 $(GO) test -v -count=1 -timeout 60m -run '^(TestLiveKilled|TestLiveBatchKilled|TestLiveShared|TestDurability|TestSubsets)$$' ./cmd/ibid
	$(MAKE) simulate

simulate: ## let every operation of a small run fail, be short or slow, or be the last
	IBID_FAULT=all $(GO) test -v -run TestSimulation -timeout 0 ./harness

# The detector makes every process sleep for a second at its end; tests start thousands. It runs where
# goroutines start, in the code or in its tests, but not in the browser: tests of report, cli and
# annotate run the same of ours. Of the tests of whole processes those run that judge, write side by
# side, stop, resume or serve.
RACED_ROOMS = $$(grep -rlE --include='*.go' --exclude-dir=benchmarks --exclude-dir=browsertest 'go func|errgroup|sync\.WaitGroup' . | xargs -n1 dirname | sort -u | grep -v '^./cmd/ibid$$')
RACED := ^(TestLive|TestDurability|TestScoreRows|TestInterrupted|TestLeftovers)|^TestScripts$$/^(annotate|batch|cache|fetch|folder|import|interrupt|judge_recorded|keep|output|quotations|report|rows|score|score_rows|site|slices|stops|summary)$$
race: ## run the tests under the race detector; needs cgo
	GORACE=atexit_sleep_ms=20 CGO_ENABLED=1 $(GO) test -race -timeout 60m $(RACED_ROOMS)
	GORACE=atexit_sleep_ms=20 CGO_ENABLED=1 $(GO) test -race -timeout 60m -run '$(RACED)' ./cmd/ibid

fuzz: ## fuzz every target for FUZZTIME (20s) each
	@set -e; for file in $$(grep -rl --include='*_test.go' '^func Fuzz' .); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$file); do \
			echo "$$target ($$(dirname $$file))"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$(dirname $$file); \
		done; done

torture: ## damage, bombs, kills, full disks: what SECURITY.md has in its table, which this writes
	$(GO) test -count=1 -timeout 60m -v -run '^TestTorture$$' ./cmd/ibid -args -torture -update

# The database is asked over the network. Where that cannot be, nothing is known: exit code 2.
vulns: ## known vulnerabilities of what ibid is built from; needs the network
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	GOBIN=$$dir $(GO) install $(GOVULNCHECK) || { echo 'not checked: govulncheck cannot be fetched here'; exit 2; }; \
	$$dir/govulncheck ./... && exit 0; \
	[ $$? -eq 3 ] || { echo 'not checked: the database of vulnerabilities cannot be read here (no network?)'; exit 2; }; \
	exit 1

scale: build ## read a dataset of 2 GB from a server for S3 by ranges, and count the bytes
	cd benchmarks/objects && $(GO) test -v -run TestLarge . -args -ibid ../../$(BIN) -files 28

# The old program is built once, into bin. REPS=3 runs each program that often over the
# generated rows, for their CPU time. What may differ: benchmarks/duckdb/frozen.tsv.
frozen: build ## results of a past commit and of this tree, compared column by column; needs cgo
	cd benchmarks/duckdb && CGO_ENABLED=1 $(GO) test -count=1 -v -tags duckdb_arrow -run '^TestFrozen$$' -timeout 3h . -args -frozen -ibid ../../$(BIN) -reps $(or $(REPS),1)

bench: build ## ibid beside other programs and by itself (CPU, memory), a gigabyte to import, then the kernels
	cd benchmarks && $(GO) run ./peers -ibid ../$(BIN)
	cd benchmarks && $(GO) run ./imports -ibid ../$(BIN)
	$(GO) test -run '^$$' -bench . -benchtime 200ms ./metrics/... ./dataset/...

lint: ## go vet, gofumpt, staticcheck
	$(GO) vet ./...
	@out=$$($(GO) run $(GOFUMPT) -l .); if [ -n "$$out" ]; then echo "not formatted (make fmt):"; echo "$$out"; exit 1; fi
	$(GO) run $(STATICCHECK) ./...
	cd benchmarks && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...

fmt: ## format the code
	$(GO) run $(GOFUMPT) -w .

golden: ## rewrite the golden files; read the diff like code
	$(GO) test $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -n1 dirname | sort -u) -update

man: ## manual pages of all commands, and completion for bash, zsh, fish and PowerShell, into docs/man
	$(GO) run ./cmd/ibid/internal/man -o docs/man

notices: ## write docs/NOTICES.md, the licences of what the program is built from
	$(GO) test ./cmd/ibid -run '^TestNotices$$' -update

home: ## give the module its path: make home MODULE=host/owner/ibid
	@[ -n '$(MODULE)' ] || { echo 'which path? make home MODULE=host/owner/ibid'; exit 2; }
	@old=$$($(GO) list -m) && \
	find . -name '*.go' -exec sed -i.old -E "s#^([[:space:]]*(import )?([A-Za-z_.]+ )?\")$$old(\"|/[^\"]*\")\$$#\1$(MODULE)\4#" {} + && \
	find . -name '*.go.old' -exec rm {} + && \
	$(GO) mod edit -module '$(MODULE)' && \
	(cd benchmarks && $(GO) mod edit -module '$(MODULE)/benchmarks' -droprequire "$$old" -dropreplace "$$old" -require '$(MODULE)@v0.0.0' -replace '$(MODULE)=../') && \
	for folder in duckdb objects; do (cd benchmarks/$$folder && $(GO) mod edit -module "$(MODULE)/benchmarks/$$folder") || exit 1; done && \
	echo "$$old is $(MODULE); make fmt sorts the imports"

screenshots: ## make the README's pictures of the sample's report; look at them (needs chromium)
	IBID_REQUIRE_BROWSER=1 IBID_SCREENSHOTS=$(CURDIR)/report $(GO) test -count=1 ./report/browsertest -run TestScreenshots

check: ## what CI runs
	bash .ci/run
