# The command plays every recorded conversation on wazero, native and Node.
source .ci/lib.sh
need_commands
node_test .ci/recordings/run.test.mjs
