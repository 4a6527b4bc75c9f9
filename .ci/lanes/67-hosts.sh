# The packed package in a fresh project, on every host and from every bundler. BESIDE
# It plays the README's first program, a stream, a tool, a gate and an abort; and what docs/hosts.md shows. It is a
# third of the hosts, another one from commit to commit; HOSTS_SHARD=2/3 says which, and TURNCORE_LONG makes it all.
source .ci/lib.sh
need_js
nodes_and_hosts
work=build/hosts/work
shard=${HOSTS_SHARD:-$(shard_of 3)}
pack "$work"
"$node24" js/test/hosts/play.mjs "$work"/turncore-*.tgz --shard="$shard" >"$work/played.txt" 2>"$work/errors.txt" ||
  { cat "$work/played.txt" "$work/errors.txt"; exit 1; }
hosts_passed "$(seq 20 | of_shard "$shard" | wc -l)" <"$work/played.txt"
alone_with examples-edge
need_packages examples/edge
node_test js/test/hosts/edge-example.test.mjs
