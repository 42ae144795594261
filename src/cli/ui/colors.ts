/** Green for good, yellow for warnings, red for errors. */
const COLOURS: Readonly<Record<string, string>> = {
  connected: '32',
  ok: '32',
  up: '32',
  connecting: '33',
  draining: '33',
  warn: '33',
  error: '1;31',
  away: '1;31',
};

/** Colours the states in the second column of a status table. */
export function paintStates(text: string): string {
  return text.replaceAll(
    /^(\S.*? {2,})(connected|connecting|error|up|draining|away)(?= {2,})/gm,
    (_, before: string, state: string) => {
      return before + coloured(state);
    },
  );
}

/** Colours the first word of a finding. */
export function paintLevels(text: string): string {
  return text.replaceAll(/^(?:ok|warn|error)(?= )/gm, coloured);
}

function coloured(word: string): string {
  return `\u001B[${COLOURS[word]}m${word}\u001B[0m`;
}
