/**
 * Checks the origins that a program names.
 */

/** The violations of a list of origins. Another rule refuses other values than lists. */
export function originViolations(field: string, origins: unknown): string[] {
  const wrong =
    Array.isArray(origins) && origins.some((origin) => !/^https?:\/\/./i.test(origin as string));
  return wrong ? [`\`${field}\` must have origins such as https://example.com`] : [];
}
