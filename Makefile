# make demo and make test need Go and make, nothing else.

GO       ?= go
VERSION  ?= 0.1.0
FUZZTIME ?= 60s
OUT      ?= out/demo
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Tools under testdata are not part of ./... and are named where they count.
TOOLS = ./testdata/bench/... ./testdata/tools/... ./testdata/mutants/...

.PHONY: all build demo test properties race fuzz browser bench parity gate gate-quick gate-proof lint staticcheck clean

all: build

build:
	$(GO) build -trimpath -ldflags "-X main.version=$(VERSION)" -o bin/routesim ./cmd/routesim

# Overlap credit and prefill scale over an hour of real traffic, 6 seeds each.
demo: build
	bin/routesim sweep testdata/traces/mooncake_conversation.jsonl.zst \
		--profile h100/llama-3.1-70b/tp4 --workers 8 --no-env \
		--vary router-kv-overlap-score-credit=0,0.5,1,1.5 \
		--vary router-prefill-load-scale=log:0.5:16:6 -o $(OUT)
	@echo
	@echo "Open $(OUT)/report.html"

# TESTFLAGS=-v shows every test. What was left out is listed at the end.
test:
	$(GO) run ./testdata/tools/gotest $(TESTFLAGS) ./... $(TOOLS)
	@echo "Run by .ci/run only: the race detector (make race), property tests with more"
	@echo "draws (make properties), fuzzing (make fuzz), the report in a browser (make browser),"
	@echo "the gate against mutants (make gate-quick), coverage of the command's scripts."

# Property tests with five times the usual number of draws.
properties:
	sh testdata/tools/properties.sh 500

# The race detector needs a C compiler. Under it tests leave out what takes
# minutes there and has no goroutines; property tests make fewer draws.
race:
	CGO_ENABLED=1 RAPID_CHECKS=20 $(GO) test -race -short -timeout 20m ./... $(TOOLS)

fuzz:
	sh testdata/tools/fuzz.sh $(FUZZTIME)

# The report of a sweep in Debian's chromium; a module of its own.
browser:
	mkdir -p out/browser
	cd testdata/browser && ROUTESIM_SHOTS=$(CURDIR)/out/browser $(GO) test -count=1 .

bench: build
	$(GO) test -run '^$$' -bench . -benchmem ./workloads/... ./models/... ./sim/... ./reports/...
	$(GO) run ./testdata/bench side-by-side
	$(GO) run ./testdata/bench sweep
	$(GO) run ./testdata/bench scale

parity: build
	bin/routesim parity --trace-dir testdata/traces testdata/golden

# The suite of the gate on routesim itself.
gate: build
	bin/routesim gate --suite testdata/gate/gate.yaml

# The proof below in short: each mutant on the one scenario that is to catch it.
gate-quick:
	$(GO) run ./testdata/mutants -quick -offsets 10

# Shows that the gate notices faults and that luck does not trip it; takes some
# ten minutes and writes its table into testdata/mutants/README.md.
gate-proof:
	$(GO) run ./testdata/mutants -write

lint:
	@test -z "$$(gofmt -l .)" || { echo "gofmt -w these files:"; gofmt -l .; exit 1; }
	$(GO) vet ./... $(TOOLS)

staticcheck:
	$(GO) run $(STATICCHECK) ./... $(TOOLS)

clean:
	rm -rf bin out
