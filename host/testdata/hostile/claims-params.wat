;; has a type that says it has 4 billion parameters
(module binary "\00asm\01\00\00\00" "\01\07\01\60\ff\ff\ff\ff\0f")
