/** The warning of a secret that a config file has in plain text. The value itself is never shown. */
export function secretWarning(what: string, variable: string): string {
  return `${what}, and would be safer outside of the file: write \${${variable}} there, and set ${variable} where the daemon is started`;
}
