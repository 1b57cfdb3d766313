# firstwriter: every task of the project. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help run demo build test dynalite integration fuzz simulate soak chaos chaos-orders client model mutations lint validate bench bench-overhead bench-start bench-sandbox clean

# Functions are built for Lambda by default; the sandbox passes this machine's own GOOS and GOARCH.
LAMBDA_GOOS   := linux
LAMBDA_GOARCH := arm64
LDFLAGS       := -s -w -buildid=

# The race detector needs a C compiler.
RACE := $(if $(shell command -v $$(go env CC)),-race)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The flags of the functions' recipe, so that both share what is compiled.
GO_RUN := CGO_ENABLED=0 go run -trimpath

run: ## serve the API on 127.0.0.1:3000; ARGS='-timeout 6s' passes flags on
	$(GO_RUN) ./integration/cmd/sandbox $(ARGS)

demo: ## a lost reply and 50 copies at once, against a sandbox of its own; fails if a charge was doubled
	$(GO_RUN) ./integration/cmd/demo $(ARGS)

build: ## build the functions for Lambda into bin/
	$(MAKE) build-PaymentsFunction ARTIFACTS_DIR=bin/PaymentsFunction
	$(MAKE) build-OrdersFunction ARTIFACTS_DIR=bin/OrdersFunction
	$(MAKE) build-RelayFunction ARTIFACTS_DIR=bin/RelayFunction

# SAM calls build-<LogicalId> with ARTIFACTS_DIR (BuildMethod: makefile); so does the sandbox.
build-PaymentsFunction:
	CGO_ENABLED=0 GOOS=$(or $(GOOS),$(LAMBDA_GOOS)) GOARCH=$(or $(GOARCH),$(LAMBDA_GOARCH)) \
		go build -trimpath -tags lambda.norpc -ldflags '$(LDFLAGS)' -o $(ARTIFACTS_DIR)/bootstrap ./functions/payments

build-OrdersFunction:
	CGO_ENABLED=0 GOOS=$(or $(GOOS),$(LAMBDA_GOOS)) GOARCH=$(or $(GOARCH),$(LAMBDA_GOARCH)) \
		go build -trimpath -tags lambda.norpc -ldflags '$(LDFLAGS)' -o $(ARTIFACTS_DIR)/bootstrap ./functions/orders

build-RelayFunction:
	CGO_ENABLED=0 GOOS=$(or $(GOOS),$(LAMBDA_GOOS)) GOARCH=$(or $(GOARCH),$(LAMBDA_GOARCH)) \
		go build -trimpath -tags lambda.norpc -ldflags '$(LDFLAGS)' -o $(ARTIFACTS_DIR)/bootstrap ./functions/relay

test: ## all tests, with the race detector where there is a C compiler
	@$(if $(RACE),:,echo "no C compiler: the tests run without the race detector")
	go test $(RACE) ./...

dynalite: ## install dynalite, which the differential test compares with (npm)
	npm ci --prefix integration/differential/dynalite

integration: ## the end-to-end tests alone
	go test $(RACE) -count=1 ./integration/...

simulate: ## 5,000 seeds of the simulation, without the race detector
	go test ./integration/simulation -run Seeds -count=1

DURATION := 20m
soak: ## simulate for DURATION (20m), with progress; seeds that fail are printed
	go test ./integration/simulation -run Soak -count=1 -timeout 0 -v -args -duration $(DURATION)

N := 2000
chaos: ## N=2000 operations against real processes that are killed, with progress
	go test ./integration/chaos -run TestChaos -count=1 -timeout 0 -v -args -operations $(N)

chaos-orders: N := 500
chaos-orders: ## N=500 orders against real processes that are killed, with progress
	go test ./integration/chaos -run TestOrders -count=1 -timeout 0 -v -args -orders $(N)

PAYMENTS := 500
client: ## PAYMENTS=500 by idemcurl against the sandbox, while both are killed
	go test ./integration/client -count=1 -timeout 0 -v -args -payments $(PAYMENTS)

model: ## visit every state of small worlds of the protocol (minutes; 3 GB); ARGS=-quick for less
	$(GO_RUN) ./integration/model $(ARGS)

mutations: ## break the protocol on purpose, condition by condition: the tests must notice
	$(GO_RUN) ./integration/mutations

FUZZTIME := 60s
fuzz: ## every fuzz test for FUZZTIME (60s) each
	@grep -rl '^func Fuzz' --include='*_test.go' . | while read -r file; do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\).*/\1/p' $$file); do \
			echo "== $$name in $$(dirname $$file)"; \
			go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$(dirname $$file) || exit 1; \
		done; done

lint: ## gofmt, go vet, staticcheck, idemlint; every scenario of failure has a test
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "run gofmt -w on:" $$unformatted; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	./integration/coverage-of-failures
	go run ./idempotency/cmd/idemlint -template template.yaml ./...

validate: ## cfn-lint on the template, where it is installed
	@if command -v cfn-lint >/dev/null; then cfn-lint template.yaml && echo "template.yaml is clean"; \
	else echo "cfn-lint is not installed (pip install cfn-lint): template.yaml is not checked"; fi

bench: ## benchmarks of the library, then the three below
	go test -run '^$$' -bench . -benchmem ./idempotency/...
	$(MAKE) bench-overhead bench-start bench-sandbox

bench-overhead: ## CPU time of guarded calls against bare SDK calls
	$(GO_RUN) ./integration/overhead

bench-start: ## process start to first poll, against a minimal function
	$(GO_RUN) ./integration/startup

bench-sandbox: ## what the sandbox adds to a request, and 50 at once
	go test ./integration/sandbox -run '^$$' -bench . -benchtime 2s

clean: ## remove what was built
	rm -rf bin .aws-sam
