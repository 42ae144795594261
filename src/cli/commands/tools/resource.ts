import { EXIT } from '../../../shared/report/exit-codes.js';
import { type CommandContext, defineCommand } from '../../core/command.js';
import { singleLine } from '../../ui/text.js';

export const command = defineCommand({
  name: 'resource',
  summary: 'Reads a resource and prints its content.',
  details: `Text is printed as it is.
Binary content is written to a pipe or a file byte for byte; a terminal shows
only its size and type.`,
  args: { server: { complete: 'server' }, uri: { noun: 'URI', complete: 'resource' } },
  examples: [
    'toolherd resource shop file:///readme.md',
    'toolherd resource shop file:///logo.png > logo.png',
    ['toolherd resource shop file:///logo.png --json', 'the whole result'],
  ],
  exits: {
    ok: 'ok',
    failed: 'the server failed',
    notFound: 'no such server or resource',
    cannotReach: 'the server cannot be reached',
    notAllowed: 'the server needs authorisation',
    badConfig: 'the entry of the server cannot be resolved',
  },
  ownTimeout: true,
  async run(context) {
    const { args, globals, output } = context;
    const fleet = await context.fleet();
    const result = await fleet.resource({ server: args.server, uri: args.uri, timeout_ms: globals.timeout });
    output.json({ result });
    const contents = Array.isArray(result.contents) ? (result.contents as (Content | null)[]) : [];
    for (const content of contents) show(context, content ?? {});
    if (contents.length === 0) output.note('the resource is empty');
    return EXIT.ok;
  },
});

interface Content {
  uri?: unknown;
  mimeType?: unknown;
  text?: unknown;
  blob?: unknown;
}

function show({ output }: CommandContext, { uri, mimeType, text, blob }: Content): void {
  if (typeof text === 'string') output.printRaw(text);
  else if (typeof blob === 'string') {
    const bytes = Buffer.from(blob, 'base64');
    const about = singleLine(
      `${String(uri)}: ${bytes.length} bytes of ${String(mimeType ?? 'unknown type')}`,
    );
    output.printBytes(bytes, `${about}; redirect the output to a file to get them`);
  } else output.note(singleLine(`(${String(uri)} has neither text nor bytes; see --json)`));
}
