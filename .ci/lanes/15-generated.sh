# The generated files are what their generators write today. QUICK
source .ci/lib.sh
need_npm

sources() { git ls-files -z --cached --others --exclude-standard | sort -z | xargs -0 sha256sum 2>/dev/null; }

before=$(sources || true)
go generate ./...
if ! changed=$(diff <(echo "$before") <(sources || true)); then
  echo "$changed" | sed -n 's/^[<>] [0-9a-f]*  /differs: /p' | sort -u
  fail 'run go generate ./... and commit what it writes'
fi
count=$(git grep -liE '^(//|<!--) (code )?generated .* do not edit\.' -- ':!.ci' | wc -l)
echo "$count generated files are up to date"
tests_ran "$count"
