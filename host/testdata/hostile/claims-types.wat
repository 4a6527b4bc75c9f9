;; says that it has 4 billion types
(module binary "\00asm\01\00\00\00" "\01\05\ff\ff\ff\ff\0f")
