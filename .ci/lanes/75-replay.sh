# Turns recorded on one engine replay on the others, byte for byte. BESIDE
source .ci/lib.sh
need_commands
node_test .ci/recordings/replay.test.mjs
