;; has a function that says it has 4 billion locals
(module binary "\00asm\01\00\00\00" "\01\04\01\60\00\00" "\03\02\01\00" "\0a\0a\01\08\01\ff\ff\ff\ff\0f\7f\0b")
