/**
 * Where the files of this package are.
 */

/** The scheme of a URL that says: this file is not here. */
export const LOST = 'lost:';

/**
 * The URL of a file of this package. In bundles whose `import.meta.url` is no URL the file is lost: its URL then has
 * the scheme {@link LOST} and loads nothing, so that an import never throws.
 */
export function locate(name: string, url: () => URL): URL {
  try {
    return url();
  } catch {
    return new URL(LOST + name);
  }
}
