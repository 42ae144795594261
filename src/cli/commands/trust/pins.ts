import type { PinReport, ServerPins, ToolPin } from '../../../fleet/fleet.js';
import { pinDiff } from '../../../fleet/texts/pin-diff.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { elapsedSince } from '../../../shared/text/elapsed.js';
import { defineCommand } from '../../core/command.js';
import { printError } from '../../core/report-error.js';
import { escapeInvisible, singleLine } from '../../ui/text.js';

export const command = defineCommand({
  name: 'pins',
  summary: 'Shows tools whose definitions have changed since toolherd first read them.',
  details: `A definition is the name, title, description, schemas and annotations of a tool.
toolherd pins it when it first reads it.
With 'security.pin: enforce' a tool with another definition is blocked.
--accept pins exactly the definitions that were shown.
On a terminal it asks first, unless --yes is given.
Invisible characters are shown by their numbers, as \\u{202e}.`,
  args: { server: { optional: true, complete: 'any server' } },
  options: {
    accept: { type: 'boolean', about: 'accept the changes' },
    yes: { type: 'boolean', short: 'y', about: 'do not ask' },
  },
  examples: [
    'toolherd pins',
    'toolherd pins github',
    'toolherd pins github --accept',
    'toolherd pins --json | jq \'.servers[].tools[]|select(.state != "pinned")\'',
  ],
  exits: {
    ok: 'shown or accepted',
    failed: 'a definition changed again before it was accepted',
    notFound: 'no such server',
    notAllowed: 'you said no',
  },
  async run(context) {
    const { args, options, output } = context;
    const fleet = await context.fleet();
    const shown = await fleet.pins({ server: args.server });
    const waiting = shown.servers.filter((server) => hashesOf(server).length > 0);
    output.print(describe(shown, Date.now()));
    if (!options.accept || waiting.length === 0) {
      output.json({ ...shown });
      if (options.accept) output.note('there is nothing to accept');
      return EXIT.ok;
    }
    const isAsked = !options.yes && !output.isJson && context.isInteractive();
    if (isAsked && !(await context.confirm('Accept this?'))) {
      output.print('nothing was accepted');
      return EXIT.notAllowed;
    }
    const report = { ...shown, servers: [] as ServerPins[], accepted: [...shown.accepted] };
    const isWaiting = new Set(waiting.map(({ server }) => server));
    for (const server of shown.servers) {
      // by their hashes, so that only the shown definitions are accepted
      const params = { server: server.server, accept: true, hashes: hashesOf(server) };
      const done = isWaiting.has(server.server) ? await fleet.pins(params) : undefined;
      report.servers.push(...(done?.servers ?? [server]));
      report.accepted.push(...(done?.accepted ?? []));
    }
    output.json(report);
    for (const { server, tool } of report.accepted)
      output.print(escapeInvisible(`accepted: ${server}.${tool}`));
    const missed = waiting.flatMap(hashesOf).length - report.accepted.length;
    if (missed === 0) return EXIT.ok;
    printError(output, {
      type: 'PinChangedError',
      message: `${missed === 1 ? '1 tool' : `${missed} tools`} changed again before that was accepted`,
      fix: 'look again: toolherd pins',
    });
    return EXIT.failed;
  },
});

function hashesOf({ tools }: ServerPins): string[] {
  return tools.flatMap(({ offered }) => offered?.hash ?? []);
}

function describe({ servers, policy }: PinReport, now: number): string {
  const lines = servers.flatMap((server) => describeServer(server, now));
  const about = policy === 'off' ? ["(security.pin is 'off': nothing is compared)"] : [];
  return [...lines, ...(servers.length === 0 ? ['no servers are configured'] : []), ...about].join('\n');
}

function describeServer({ server, tools, problem }: ServerPins, now: number): string[] {
  const different = tools.filter(({ state }) => state !== 'pinned');
  const pinned = tools.filter((tool) => tool.pinned !== null).length;
  const count = pinned === 0 ? 'nothing is pinned' : `${pinned} ${pinned === 1 ? 'tool' : 'tools'} pinned`;
  const rest = different.length === 0 ? '' : `, ${different.length} to accept`;
  return [
    `${singleLine(server)}: ${count}${rest}`,
    ...(problem === null ? [] : [`  the pins cannot be read: ${singleLine(problem)}`]),
    ...different.flatMap((tool) => describeTool(tool, now)),
  ];
}

function describeTool(tool: ToolPin, now: number): string[] {
  const mark = tool.state === 'new' ? '+' : '~';
  const since = tool.offered === null ? '' : `, ${elapsedSince(tool.offered.at, now)} ago`;
  const about = `${tool.state}${tool.blocked ? ' and blocked' : ''}${since}${packagesOf(tool)}`;
  return [
    `  ${mark} ${escapeInvisible(tool.tool)} (${about})`,
    ...pinDiff(tool).map((line) => `      ${line}`),
  ];
}

/** Which version of the package brought the change. */
function packagesOf({ pinned, offered }: ToolPin): string {
  if (offered?.package === undefined) return '';
  const before = pinned?.package === undefined ? '' : `, pinned with ${pinned.package}`;
  return `, by ${offered.package}${before}`;
}
