/**
 * Checks the origins that a program names.
 */

/** The violations of a list of origins. Another rule refuses what is no list. */
export function originViolations(field: string, origins: unknown): string[] {
  const wrong =
    Array.isArray(origins) && origins.some((origin) => !/^https?:\/\/./i.test(origin as string));
  return !wrong ? [] : [`\`${field}\` must have origins such as https://example.com`];
}
