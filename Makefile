# firstwriter: every task of the project. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help run build clean

# Functions are built for Lambda by default; the sandbox passes this machine's own GOOS and GOARCH.
LAMBDA_GOOS   := linux
LAMBDA_GOARCH := arm64
LDFLAGS       := -s -w -buildid=

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## serve the API on 127.0.0.1:3000; ARGS='-timeout 6s' passes flags on
	go run ./integration/cmd/sandbox $(ARGS)

build: ## build the functions for Lambda into bin/
	$(MAKE) build-PaymentsFunction ARTIFACTS_DIR=bin/PaymentsFunction

# SAM calls build-<LogicalId> with ARTIFACTS_DIR (BuildMethod: makefile); so does the sandbox.
build-PaymentsFunction:
	CGO_ENABLED=0 GOOS=$(or $(GOOS),$(LAMBDA_GOOS)) GOARCH=$(or $(GOARCH),$(LAMBDA_GOARCH)) \
		go build -trimpath -tags lambda.norpc -ldflags '$(LDFLAGS)' -o $(ARTIFACTS_DIR)/bootstrap ./functions/payments

clean: ## remove what was built
	rm -rf bin .aws-sam
