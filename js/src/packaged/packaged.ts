/**
 * What each platform knows of this package's modules. The package's `imports` choose the file by conditions.
 */

/** A module of this package: where it is, or the module itself where the platform imports it compiled. */
export type PackagedModule = URL | WebAssembly.Module;

/** Reads a file of the platform. */
export type ReadFile = (path: string | URL) => Promise<Uint8Array<ArrayBuffer>>;
