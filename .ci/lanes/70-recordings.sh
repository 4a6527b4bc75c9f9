# The command plays every recorded conversation on wazero, native and Node, and
# prints the same event logs everywhere.
source .ci/lib.sh
need_commands
node_test .ci/recordings/run.test.mjs .ci/recordings/command.test.mjs
