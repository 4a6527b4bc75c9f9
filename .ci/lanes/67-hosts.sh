# The packed package in a fresh project, on every host and from every bundler. BESIDE
# It plays the README's first program, a stream, a tool, a gate and an abort; and what docs/hosts.md shows.
source .ci/lib.sh
need_js
nodes_and_hosts
work=build/hosts/work
pack "$work"
"$node24" js/test/hosts/play.mjs "$work"/turncore-*.tgz >"$work/played.txt" 2>"$work/errors.txt" ||
  { cat "$work/played.txt" "$work/errors.txt"; exit 1; }
hosts_passed 20 <"$work/played.txt"
need_packages examples/edge
node_test js/test/hosts/edge-example.test.mjs
