/** The section `herds` of a config. */
export function herds(...items: readonly Record<string, unknown>[]): string {
  return `herds: ${JSON.stringify(items)}\n`;
}
