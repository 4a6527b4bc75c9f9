/**
 * A module of this package as Workers import it: compiled. It is given to a host as `module`.
 */
declare const module: WebAssembly.Module;
export default module;
