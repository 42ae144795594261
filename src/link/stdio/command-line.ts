import type { StdioSpec } from '../../config/schema/spec.js';
import { CONTROL_CHARACTERS, withoutEscapes } from '../../shared/control-characters.js';
import { HIDDEN, hideInArguments } from '../../shared/hide-secrets.js';
import { shellWord } from '../../shared/shell-word.js';

/** Enough to recognise a server by; a long list of arguments would bury the sentence it stands in. */
const MOST_CHARACTERS = 160;

type Command = Pick<StdioSpec, 'command' | 'args'>;
type Redact = (text: string) => string;

/**
 * What a server is started with, as it may be shown: one line, short, without values that were declared (`redact`) and
 * without those that stand in the arguments in the clear.
 */
export function shownCommand({ command, args }: Command, redact: Redact): string {
  // cleaned before it is redacted, as the output is
  const plain = [command, ...args].map((word) => redact(oneLine(redact(word))));
  const line = hideInArguments(plain).words.map(shown).join(' ');
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}

/** `redact`, which also takes out what the command line hides: a server may repeat its arguments in its output. */
export function redactingArguments({ command, args }: Command, redact: Redact): Redact {
  const { values } = hideInArguments([command, ...args]);
  if (values.length === 0) return redact;
  return (text) => values.reduce((rest, value) => rest.replaceAll(value, HIDDEN), redact(text));
}

function oneLine(word: string): string {
  return withoutEscapes(word).replaceAll(CONTROL_CHARACTERS, ' ');
}

function shown(word: string): string {
  return word.includes(HIDDEN) || word.includes('[redacted:') ? word : shellWord(word);
}
