# The package, packed and installed in a fresh project, on every host and from every bundler: the README's first program,
# a stream, a tool, a gate and an abort.
source .ci/lib.sh
need_js
need_hosts
for major in 20 22 24 26; do need_node "$major"; done
# shellcheck disable=SC2154 # need_node sets them
export TURNCORE_NODES=$node20:$node22:$node24:$node26
work=build/hosts/work
pack "$work"
"$node24" js/test/hosts/play.mjs "$work"/turncore-*.tgz >"$work/played.txt" 2>"$work/errors.txt" ||
  { cat "$work/played.txt" "$work/errors.txt"; exit 1; }
hosts_passed 19 <"$work/played.txt"
need_packages examples/edge
node_test js/test/hosts/edge-example.test.mjs
