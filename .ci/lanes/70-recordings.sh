# The command plays every recorded conversation on wazero, native and Node. BESIDE
# It prints the same event logs everywhere. A page of Chromium leaves them too. Of the conversations that are made up, which
# lane go plays, Node plays a third, another one from commit to commit; MADE_PART=2/3 says which, and TURNCORE_LONG makes it
# the whole.
source .ci/lib.sh
need_commands
need_chromium
commit=$(git rev-parse HEAD)
if [[ -z ${TURNCORE_LONG:-} ]]; then export MADE_PART=${MADE_PART:-$((16#${commit::8} % 3 + 1))/3}; fi
node_test .ci/recordings/run.test.mjs .ci/recordings/made.test.mjs .ci/recordings/command.test.mjs
