import { type Command, type CommandContext, UsageError } from '../../core/command.js';
import { parseDuration } from '../../core/duration.js';
import { EXIT } from '../../core/exit-codes.js';
import { singleLine } from '../../ui/text.js';

export const verb: Command = {
  usage: 'resource SERVER URI',
  about: `Reads a resource. Text is printed as it is; other content goes to a pipe or file byte for byte, and is only described
on a terminal.`,
  help: `Examples:
  toolherd resource everything demo://resource/static/document/architecture.md
  toolherd resource shop file:///logo.png > logo.png
  toolherd resource shop file:///logo.png --json      the result as it came, with everything the server said

Exit status: 0 ok, 1 the server failed, 4 no such server or resource, 124 timeout.`,
  options: {},
  most: 2,
  async run(call) {
    const [server, uri] = call.args;
    if (server === undefined || uri === undefined) {
      throw new UsageError('name a server and a URI', 'usage: toolherd resource SERVER URI');
    }
    const fleet = await call.fleet();
    const timeout = call.flags.timeout as string | undefined;
    const timeout_ms = timeout === undefined ? undefined : parseDuration(timeout);
    const result = await fleet.resource({ server, uri, timeout_ms });
    call.output.json({ result });
    const contents = Array.isArray(result.contents) ? (result.contents as (Content | null)[]) : [];
    for (const content of contents) show(call, content ?? {});
    if (contents.length === 0) call.output.note('it is empty');
    return EXIT.ok;
  },
};

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
    output.printBytes(bytes, `${about}; to have them, send the output to a file`);
  } else output.note(singleLine(`(${String(uri)} has neither text nor bytes; see --json)`));
}
