;; says that it has 4 billion segments of data
(module binary "\00asm\01\00\00\00" "\0b\05\ff\ff\ff\ff\0f")
