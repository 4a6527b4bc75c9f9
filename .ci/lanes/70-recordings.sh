# The command plays every recorded conversation on wazero, native and Node. BESIDE
# It prints the same event logs everywhere. A page of Chromium leaves them too. Of the conversations that are made up,
# which lane go plays natively, Node plays a third, another one from commit to commit; MADE_SHARD=2/3 says which, and
# TURNCORE_LONG makes it the whole.
source .ci/lib.sh
need_commands
need_chromium
export MADE_SHARD=${MADE_SHARD:-$(shard_of 3)}
node_test .ci/recordings/run.test.mjs .ci/recordings/made.test.mjs .ci/recordings/command.test.mjs
