;; says that it has 4 billion imports
(module binary "\00asm\01\00\00\00" "\02\05\ff\ff\ff\ff\0f")
