import type { InstructionsParams } from '../../fleet/fleet.js';
import { firstSentence } from '../../search/signature.js';
import { cutText } from '../../shared/text/cut-text.js';
import type { ConfiguredServer } from '../server/configured-server.js';

/** Characters of all sections, and of all lines: they stand before every task of the model. */
const SECTIONS_BUDGET = 4000;
const LINES_BUDGET = 1600;
/** Of one line: a name, and the first words of its server. */
const LONGEST_LINE = 160;
const CUT = ' […]';

interface Told {
  server: string;
  /** Empty where the server says nothing. */
  text: string;
}

type Redact = (text: string, of: ConfiguredServer) => string;

/** What the servers of a view say of their use, also those at rest, from the cache. Servers that cannot be called say nothing. */
export function viewInstructions(
  servers: readonly ConfiguredServer[],
  { server: name, form }: InstructionsParams,
  redact: Redact,
): string | undefined {
  const asked = servers.filter(({ spec }) => spec.enabled && (name === undefined || spec.name === name));
  const told = asked.map((server) => ({
    server: server.spec.name,
    text: redact(server.catalog.instructions()?.trim() ?? '', server),
  }));
  if (name !== undefined) return told[0]?.text || undefined;
  return (form === 'sections' ? sections(told) : lines(told)) || undefined;
}

/** One section a server. Each gets an equal part of the budget, at least its first sentence; short ones leave theirs to others. */
export function sections(all: readonly Told[]): string {
  const told = all.filter(({ text }) => text !== '');
  const part = fairPart(
    told.map(({ text }) => text.length),
    SECTIONS_BUDGET,
  );
  return told.map(({ server, text }) => `# ${server}\n\n${shortened(text, part)}`).join('\n\n');
}

/** One line a server, the first sentence of each; then the names of servers that say nothing, as far as there is room. */
export function lines(all: readonly Told[]): string {
  const told = all.filter(({ text }) => text !== '');
  const silent = all.filter(({ text }) => text === '').map(({ server }) => server);
  const whole = told.map(({ server, text }) => cutText(`- ${server}: ${titleless(text)}`, LONGEST_LINE));
  const part = fairPart(
    whole.map(({ length }) => length + 1),
    LINES_BUDGET,
  );
  const shown = whole.map((line, at) => cutText(line, Math.max(part, `- ${told[at]!.server}`.length)));
  if (silent.length > 0) shown.push(`- also: ${silent.join(', ')}`);
  const text = shown.join('\n');
  return text.length <= LINES_BUDGET ? text : `${cutText(text, LINES_BUDGET - 1)}…`;
}

/** Headings of Markdown say less than the sentence after them. */
function titleless(text: string): string {
  const sentence = text
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '' && !line.startsWith('#'));
  return firstSentence(sentence ?? text);
}

/** The length that all texts may have so that together they keep the budget. */
function fairPart(lengths: readonly number[], budget: number): number {
  let left = budget;
  const inOrder = [...lengths].sort((one, other) => one - other);
  for (const [at, length] of inOrder.entries()) {
    const part = Math.floor(left / (inOrder.length - at));
    if (length > part) return part;
    left -= length;
  }
  return budget;
}

/** Ends with a whole line or word where it is cut. */
function shortened(text: string, part: number): string {
  if (text.length <= part) return text;
  const least = firstSentence(text);
  const cut = cutText(text, Math.max(0, part - CUT.length));
  const end = Math.max(cut.lastIndexOf('\n'), cut.lastIndexOf(' '));
  const kept = (end > cut.length / 2 ? cut.slice(0, end) : cut).trimEnd();
  return `${kept.length < least.length ? least : kept}${CUT}`;
}
