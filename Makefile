# For people. Each target gets what it needs, says what it does, and can be run again.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
EOS := $(or $(CARGO_TARGET_DIR),target)/debug/eos
TEST_TOOLS := tofu terraform nomad salt nats-server aws terraform-provider-hcloud

DENY_VERSION := 0.20.2
DENY_FOLDER := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/eos/tools/cargo-deny-$(DENY_VERSION)
DENY := $(DENY_FOLDER)/bin/cargo-deny

.NOTPARALLEL:
.PHONY: help build release tools get-tools aws-provider test lint bench bench-hive fuzz acceptance demo clean soak

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: ## build eos (debug)
	@echo "==> building eos"
	@cargo build --locked -p eos

release: ## build eos (release)
	@echo "==> building eos, optimised"
	@cargo build --locked --release -p eos

tools: build get-tools ## get the real tools the tests use (tofu, nomad, salt)

get-tools:
	@echo "==> getting the tools the tests use: $(TEST_TOOLS)"
	@$(EOS) tools install $(TEST_TOOLS)
	@if [ -n "$${EOS_TOOLS_BUNDLE:-}" ]; then $(EOS) tools install terraform-provider-aws; else \
	  echo "    terraform-provider-aws is taken from a bundle (EOS_TOOLS_BUNDLE) or built by make aws-provider;"; \
	  echo "    without it the tests that need it say SKIPPED"; fi

aws-provider: build ## build the AWS provider from its Go module (half an hour, 10 GB of memory)
	@$(EOS) tools install terraform-provider-aws

# Tests bring features of dependencies that eos alone has not: eos comes with them, or everything would be built twice.
test: lint ## lint, then all tests, on real tools
	@echo "==> building eos and the tests"
	@tests/run --no-run
	@$(MAKE) --no-print-directory get-tools
	@tests/run

soak: tools ## the whole kill and fault matrices with Nomad, which make test samples (half an hour)
	@TEST_MINUTES=120 tests/run eos/ eos-engine/ -- --ignored

lint: $(DENY) ## rustfmt, clippy, and the licences and sources of dependencies
	@echo "==> rustfmt"
	@cargo fmt --all --check
	@echo "==> clippy"
	@cargo clippy --locked --workspace --all-targets -- -D warnings
	@echo "==> cargo-deny: licences, bans, sources"
	@$(DENY) --locked check --hide-inclusion-graph licenses bans sources

$(DENY):
	@echo "==> building cargo-deny $(DENY_VERSION) into the cache, once (two minutes on two cores)"
	@cargo install --quiet --locked --version $(DENY_VERSION) --root $(DENY_FOLDER) --target-dir $(DENY_FOLDER)/build cargo-deny
	@rm -rf $(DENY_FOLDER)/build

bench: release ## measure speed and size, printed as a table
	@cargo build --locked --release -p eos-engine --example journal
	@bench/run

bench-hive: release ## measure the EC2 endpoint beside fakecloud and moto, printed as a table
	@cargo build --locked --release -p hive --bin hive --example load
	@python3 bench/hive.py $(or $(CARGO_TARGET_DIR),target)/release/hive $(or $(CARGO_TARGET_DIR),target)/release/examples/load \
	  $(or $(CARGO_TARGET_DIR),target)/release/eos

FUZZ_SECONDS ?= 120
fuzz: ## fuzz parser, XML, SigV4 and filters, two minutes each
	@crates/hive-api/fuzz/run $(FUZZ_SECONDS)

acceptance: build ## the AWS provider's own acceptance tests against Hive (builds them once: some minutes, 5 GB of disk)
	@cargo build --locked -p hive
	@crates/hive/tests/acceptance/run

demo: ## the main job from beginning to end, in .demo/
	@demo/run

clean: ## remove what was built here; the tool cache stays
	@cargo clean
	@rm -rf .demo
