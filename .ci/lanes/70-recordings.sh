# The command plays every recorded conversation on wazero, native and Node. BESIDE
# It prints the same event logs everywhere. A page of Chromium leaves them too.
source .ci/lib.sh
need_commands
need_chromium
node_test .ci/recordings/run.test.mjs .ci/recordings/made.test.mjs .ci/recordings/command.test.mjs
