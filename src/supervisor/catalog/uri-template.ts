/**
 * Whether a URI may have come of a template (RFC 6570). Only the fixed parts are compared, in their order: what a
 * variable may hold is for its server to say.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  const parts = template.split(/\{[^{}]*\}/);
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return uri === template;
  if (!uri.startsWith(first) || uri.length < first.length + last.length || !uri.endsWith(last)) return false;
  const middle = uri.slice(first.length, uri.length - last.length);
  let at = 0;
  for (const part of rest) {
    const found = middle.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return true;
}
