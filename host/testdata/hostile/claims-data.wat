;; has a segment that says it is of 4 GB
(module binary "\00asm\01\00\00\00" "\05\03\01\00\01" "\0b\0a\01\00\41\00\0b\ff\ff\ff\ff\0f")
