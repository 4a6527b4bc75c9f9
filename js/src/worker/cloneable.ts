/**
 * What crosses between a page and its worker.
 */

/**
 * Values that cross to another thread as they are: what a structured clone keeps. Functions, symbols and instances of
 * classes do not cross. An error arrives as one of the same class, with its code.
 */
export type Cloneable =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Date
  | RegExp
  | Error
  | ArrayBuffer
  | ArrayBufferView
  | Blob
  | readonly Cloneable[]
  | ReadonlyMap<Cloneable, Cloneable>
  | ReadonlySet<Cloneable>
  | { readonly [name: string]: Cloneable };
