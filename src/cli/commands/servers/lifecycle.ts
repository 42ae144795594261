import type { Order, ServerStatus } from '../../../fleet/fleet.js';
import { ownerOf } from '../../../fleet/texts/server-notes.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { type Command, defineCommand, NOTHING_RUNS } from '../../core/command.js';
import { paintStates } from '../../ui/colors.js';
import { NO_SERVERS } from '../../ui/text.js';
import { isUnreachable, statusTable } from './status-table.js';

const SELECTION = `SERVER is a server of the nearest agent.yaml or of the global config.
If neither has a server of that name, the command applies to every server of
that name of other agents. --all applies to every server of those two files, and
to every server of other agents that runs, waits or is quarantined.`;

const STARTED_EXITS = {
  ok: 'ok',
  failed: 'with --wait: a server does not run',
  notFound: 'no such server',
  cannotReach: 'with --wait: a server cannot be reached',
  notAllowed: 'with --wait: a server needs authorisation',
  badConfig: 'a named server is misconfigured',
} as const;

const FAILED: readonly string[] = ['quarantined', 'waiting', 'misconfigured'];
/** A server in one of these has no process, and stays in it. */
const ENDED: readonly string[] = ['stopped', 'disabled', 'not_allowed', 'misconfigured'];
const NOT_ENABLED: Readonly<Record<string, string>> = {
  disabled: 'is disabled in its config',
  not_allowed: 'is not allowed to run any more',
};

function lifecycleCommand(
  name: Order,
  {
    summary,
    wait,
    example,
    exits,
  }: Record<'summary' | 'wait' | 'example', string> & Required<Pick<Command, 'exits'>>,
): Command {
  return defineCommand({
    name,
    summary,
    details: SELECTION,
    args: { servers: { label: 'SERVER', noun: 'server', many: true, unless: 'all', complete: 'any server' } },
    options: {
      all: { type: 'boolean', about: 'all servers' },
      wait: { type: 'boolean', about: wait },
    },
    examples: [`toolherd ${name} ${example}`, `toolherd ${name} --all --wait`],
    exits,
    async run(context) {
      const { args, options, output } = context;
      // without a daemon no server runs: there is nothing to stop
      const fleet = await context.fleet(name === 'stop' ? { autostart: false, absentFix: NOTHING_RUNS } : {});
      const selection = options.all ? { all: true as const } : { servers: [...args.servers] };
      const servers = await fleet[name](selection, options.wait);
      output.json({ servers });
      // the states are those before the order
      if (name === 'stop' && !options.wait) output.print(stoppingText(servers));
      else output.print(statusTable(servers, Date.now(), output.columns, context.environment), paintStates);
      const named = servers.filter((server) => args.servers.includes(server.name));
      for (const { name: server, detail } of named)
        if (NOT_ENABLED[detail] !== undefined)
          output.note(`warning: ${server} ${NOT_ENABLED[detail]}: nothing was done`);
      if (!options.wait) return EXIT.ok;
      if (servers.some(({ detail }) => detail === 'needs_auth')) return EXIT.notAllowed;
      if (servers.some(isUnreachable)) return EXIT.cannotReach;
      return servers.some(({ detail }) => FAILED.includes(detail)) ? EXIT.failed : EXIT.ok;
    },
  });
}

function stoppingText(servers: readonly ServerStatus[]): string {
  if (servers.length === 0) return NO_SERVERS;
  const wordOf = ({ detail }: ServerStatus) => (ENDED.includes(detail) ? detail : 'stopping');
  return servers.map((server) => `${wordOf(server)}: ${server.name}${ownerOf(server)}`).join('\n');
}

const WAIT_FOR_START = 'wait until they run and have listed their tools, or fail';

export const commands: readonly Command[] = [
  lifecycleCommand('start', {
    summary: 'Starts servers now, also stopped, waiting and quarantined ones.',
    wait: WAIT_FOR_START,
    example: 'github',
    exits: STARTED_EXITS,
  }),
  lifecycleCommand('stop', {
    summary: 'Stops servers. They stay stopped, also when called, until you start them.',
    wait: 'wait until they have ended',
    example: 'github memory',
    exits: { ok: 'ok', notRunning: 'no daemon runs', notFound: 'no such server' },
  }),
  lifecycleCommand('restart', {
    summary: 'Stops and starts servers.',
    wait: WAIT_FOR_START,
    example: 'github',
    exits: STARTED_EXITS,
  }),
  lifecycleCommand('reset', {
    summary: 'Forgets the failures of servers, and lets quarantined ones try again.',
    wait: WAIT_FOR_START,
    example: 'github',
    exits: STARTED_EXITS,
  }),
];
