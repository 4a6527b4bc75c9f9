;; says that it has 4 billion functions
(module binary "\00asm\01\00\00\00" "\01\04\01\60\00\00" "\03\05\ff\ff\ff\ff\0f")
