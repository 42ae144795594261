import type { PinReport, ServerPins, ToolPin } from '../../../fleet/fleet.js';
import type { Command } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { withTimeout } from '../../core/timeout.js';
import { ago } from '../../ui/table.js';
import { singleLine } from '../../ui/text.js';
import { escapeInvisible } from '../../ui/visible.js';
import { pinDiff } from './pin-diff.js';

export const verb: Command = {
  usage: 'pins [SERVER] [--accept] [--yes]',
  about: `Shows what tools are not what they were when toolherd first saw them, and how they differ. With 'security.pin:
enforce' such a tool is blocked. --accept takes exactly what was shown for good; on a terminal it asks first.`,
  help: `Examples:
  toolherd pins                         every server
  toolherd pins github                  one server, with the differences
  toolherd pins github --accept         the same, and accepts them
  toolherd pins --json | jq '.servers[].tools[] | select(.state != "pinned")'

A definition is a tool's name, title, description, schemas and annotations. It is pinned when it is first read. What no
eye sees is shown by its number, as \\u{202e}. Without a terminal --accept is consent enough; on one, --yes is.

Exit status: 0 shown or accepted, 1 something changed again before it was accepted, 4 no such server,
77 the answer was no.`,
  options: { accept: { type: 'boolean' }, yes: { type: 'boolean', short: 'y' } },
  most: 1,
  async run(call) {
    const { args, flags, output } = call;
    const fleet = await call.fleet();
    const shown = await withTimeout(call, fleet.pins({ server: args[0] }));
    const waiting = shown.servers.filter((server) => hashesOf(server).length > 0);
    output.print(describe(shown, Date.now()));
    if (flags.accept !== true || waiting.length === 0) {
      output.json({ ...shown });
      if (flags.accept === true) output.note('there is nothing to accept');
      return EXIT.ok;
    }
    const isAsked = flags.yes !== true && !output.isJson && call.isInteractive();
    if (isAsked && !(await call.confirm('Accept this?'))) {
      output.print('nothing was accepted');
      return EXIT.notAllowed;
    }
    const report = { ...shown, servers: [] as ServerPins[], accepted: [...shown.accepted] };
    const isWaiting = new Set(waiting.map(({ server }) => server));
    for (const server of shown.servers) {
      // only what was shown: by its hash, and for each server by itself
      const params = { server: server.server, accept: true, hashes: hashesOf(server) };
      const done = isWaiting.has(server.server) ? await withTimeout(call, fleet.pins(params)) : undefined;
      report.servers.push(...(done?.servers ?? [server]));
      report.accepted.push(...(done?.accepted ?? []));
    }
    output.json(report);
    for (const { server, tool } of report.accepted)
      output.print(escapeInvisible(`accepted: ${server}.${tool}`));
    const missed = waiting.flatMap(hashesOf).length - report.accepted.length;
    if (missed === 0) return EXIT.ok;
    output.error(
      `error: ${missed === 1 ? '1 tool' : `${missed} tools`} changed again before that was accepted\n  fix: look again: toolherd pins`,
    );
    return EXIT.failed;
  },
};

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
    ...(problem === null ? [] : [`  what was pinned is not known: ${singleLine(problem)}`]),
    ...different.flatMap((tool) => describeTool(tool, now)),
  ];
}

function describeTool(tool: ToolPin, now: number): string[] {
  const mark = tool.state === 'new' ? '+' : '~';
  const since = tool.offered === null ? '' : `, ${ago(tool.offered.at, now)} ago`;
  const about = `${tool.state}${tool.blocked ? ' and blocked' : ''}${since}`;
  return [
    `  ${mark} ${escapeInvisible(tool.tool)} (${about})`,
    ...pinDiff(tool).map((line) => `      ${line}`),
  ];
}
