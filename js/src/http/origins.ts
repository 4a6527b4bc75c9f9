/**
 * Checks the origins that a program names.
 */

/** The violations of a list of origins. Another rule refuses what is no list. */
export function originViolations(field: string, origins: unknown): string[] {
  const right =
    !Array.isArray(origins) || origins.every((origin) => /^https?:\/\/./i.test(`${origin}`));
  return right ? [] : [`\`${field}\` must have origins such as https://example.com`];
}
