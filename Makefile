# Every target installs what it needs. The work is in .ci (tests) and wasm/build.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-quick test-long mutants mutate bench instructions wasm audit docs lint fmt release clean

LIB := source .ci/lib.sh;
TOOL := go tool -modfile=.ci/tools/go.mod

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install everything the other targets need (Go modules, npm packages, Chromium, a C compiler)
	@$(LIB) for module in . "$${own_modules[@]}"; do go -C "$$module" mod download; done; go mod download -modfile=.ci/tools/go.mod; need_npm; need_page_models; need_c_compiler; need_chromium; echo "everything is installed"

demo: ## Serve the demo page on loopback; DEMO=cli chats in the terminal instead, DEMO=edge runs a Worker
	@$(LIB) need_js; \
	case "$(DEMO)" in \
	  cli) need_command_go; exec build/turncore run $(ARGS) ;; \
	  edge) need_packages examples/edge; cd examples/edge; exec npm start -- $(ARGS) ;; \
	  '') need_page_models; need_agents; exec node examples/browser/server.mjs $(ARGS) ;; \
	  *) fail 'DEMO is cli, edge or nothing' ;; \
	esac

test: ## Run every test lane; LANES="lint go" runs these only
	@.ci/test.sh

test-quick: ## The inner loop, in three minutes: lint, generated files, the short Go tests, the JavaScript tests
	@QUICK=1 .ci/test.sh

test-long: ## Run the same with 5 minutes for each fuzz target, 10 rounds under the race detector and the longest artifacts
	@TURNCORE_LONG=1 FUZZTIME=$${FUZZTIME:-5m} ROUNDS=$${ROUNDS:-10} LANE_TIMEOUT=$${LANE_TIMEOUT:-3h} .ci/test.sh

mutants: ## Seed faults into the core, one at a time: the conformance corpus must catch each
	@go run ./host/conformance/mutants .

mutate: ## Make COUNT=200 random mutants of the core by SEED=1 and count those that the corpus and the unit tests kill
	@mkdir -p build; go run ./host/conformance/mutate -seed $(or $(SEED),1) -count $(or $(COUNT),200) -results build/mutate.jsonl .

bench: ## Measure sizes, start, steps, effects and turns on wazero, native and Node; PEERS=1 other libraries too, HOSTS=1 the first turn on every host, BASE=<commit> against that commit
	@QUICK=$(QUICK) HOSTS=$(HOSTS) BASE=$(BASE) .ci/bench.sh

instructions: ## Count the instructions that turns and invocations execute in the module, and in which functions; OF=invocation says of which
	@$(LIB) need_js && mkdir -p build/counted && go run ./wasm/build -counted -o build/counted && node js/bench/instructions.mjs --of "$(or $(OF),turn)" build/counted/turncore-full.wasm

wasm: ## Build the modules into wasm/core and wasm/full and print what they weigh; PLAIN=1 unbaked, LINKED=1 not rewritten
	@$(LIB) go run ./wasm/build "$${wasm_form[@]}"

audit: ## Look every dependency up in the vulnerability databases of Go and npm; needs the network, so no lane runs it
	@$(TOOL) govulncheck ./...; cd js && npm audit

docs: ## Write the API reference of the npm package to docs/api (that of the Go packages: go doc)
	@$(LIB) need_npm; cd js && node_modules/.bin/typedoc --logLevel Warn && echo 'docs/api/index.html'

lint: ## Check formatting and style of all code
	@bash .ci/lanes/10-lint.sh

fmt: ## Format all code
	@$(LIB) need_npm; $(TOOL) gofumpt -w $$(go_files); (cd js && npm run -s fmt)

release: ## Tag a release that holds the modules: make release VERSION=v1.2.3
	@go -C wasm/release run . "$(VERSION)"

clean: ## Remove everything that was built or installed here
	@rm -rf build js/build js/dist js/LICENSE js/node_modules examples/browser/node_modules js/*.tgz wasm/core/*.wasm wasm/full/*.wasm docs/api
