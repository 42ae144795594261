import type { StdioSpec } from '../../config/fields/spec.js';
import { HIDDEN, hideInArguments } from '../../shared/secrets/hide-secrets.js';
import { CONTROL_CHARACTERS, withoutEscapes } from '../../shared/text/control-characters.js';
import { shellWord } from '../../shared/text/shell-word.js';

/** Enough to recognise a server; a longer command would hide the rest of the sentence. */
const MOST_CHARACTERS = 160;

type Command = Pick<StdioSpec, 'command' | 'args'>;
type Redact = (text: string) => string;

/**
 * The command of a server as it may be shown: one short line, without declared values (`redact`) and without secrets that
 * the arguments show.
 */
export function shownCommand({ command, args }: Command, redact: Redact): string {
  // cleaned before it is redacted, like the output
  const plain = [command, ...args].map((word) => redact(oneLine(redact(word))));
  const line = hideInArguments(plain).words.map(shown).join(' ');
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}

/** `redact`, and the secrets of the arguments removed too: a server may repeat its arguments in its output. */
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
