#!/usr/bin/env bash
# Make the environments of the tools that `run.py` compares with: bash environments.sh DIR [UV]
# Versions are pinned, so that figures of two days compare. `pip` cannot leave a dependency out, so it takes `uv`.
set -euo pipefail
venvs=${1:?the folder for the environments}
uv=${2:-uv}

mkdir -p "$venvs"
make_environment() {
    local name=$1
    shift
    "$uv" venv --quiet --clear --python 3.11 "$venvs/$name"
    "$uv" pip install --quiet --compile-bytecode --python "$venvs/$name/bin/python" "$@"
}

# dbt's experimental parser downloads a binary while it installs; its default parser does not use it.
echo "dbt-core-experimental-parser ; sys_platform == 'never'" >"$venvs/override.txt"
make_environment dbt --override "$venvs/override.txt" dbt-core==1.12.6 dbt-duckdb==1.11.1 duckdb==2.0.0
# It refuses duckdb 2.0 and takes the newest that it can.
make_environment sqlmesh 'sqlmesh[duckdb]==0.236.4' duckdb==1.5.6
