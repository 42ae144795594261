const MOST_NAMED = 5;
const LONGEST_NAME = 80;

/** Names of tools are a server's own words: a few of them, and not all of a long one. */
function named(tools: readonly string[]): string {
  const names = tools
    .slice(0, MOST_NAMED)
    .map((name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name));
  const more = tools.length > MOST_NAMED ? ` and ${tools.length - MOST_NAMED} more` : '';
  return `${names.join(', ')}${more}`;
}

export function changedText(server: string, tools: readonly string[], isStrict: boolean): string {
  const follows = isStrict ? 'they are blocked; ' : '';
  return `these tools are not what was pinned: ${named(tools)}; ${follows}see "toolherd pins ${server}"`;
}

export function addedText(server: string, tools: readonly string[], isStrict: boolean): string {
  const follows = isStrict ? `they are blocked; see "toolherd pins ${server}"` : 'they are pinned now';
  return `these tools were not there when the others were pinned: ${named(tools)}; ${follows}`;
}

/** `isThere`: there are pins, and they cannot be read; else they cannot be written. */
export function problemText(server: string, problem: string, isStrict: boolean, isThere: boolean): string {
  if (isStrict) return `its tools are blocked: ${problem}; see "toolherd pins ${server}"`;
  const follows = isThere ? 'it is set aside, and what is offered now is pinned' : 'nothing new is pinned';
  return `its pins are in trouble: ${problem}; ${follows}`;
}
