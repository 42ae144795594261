import { type Command, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { withTimeout } from '../../core/timeout.js';
import { paintStates } from '../../ui/colors.js';
import { isUnreachable, statusTable } from './status-table.js';

const REACH = `SERVER is one of the nearest agent.yaml or the global config, else every one of that name that other agents have.
--all is every server of those two files, and of other agents every one that is not at rest.`;
const TRIED = `With --wait the answer comes when it is decided how it went, and what the servers offer is known (or does not come
within seconds). Exit status: 0 ok, 1 one of them does not run, 4 no such server, 69 one cannot be reached,
77 one needs authorisation, 78 one that was named is misconfigured, 124 --timeout.`;
const EXITS = {
  start: TRIED,
  restart: TRIED,
  reset: TRIED,
  stop: 'With --wait the answer comes when they are gone. Exit status: 0 ok, 4 no such server, 124 --timeout.',
};

const FAILED: readonly string[] = ['quarantined', 'waiting', 'misconfigured'];
const NOT_ENABLED: Readonly<Record<string, string>> = {
  disabled: 'is disabled in its config',
  not_allowed: 'is not allowed to run any more',
};

/** start, stop, restart and reset are one verb in four words. */
export function lifecycleCommand(
  order: 'start' | 'stop' | 'restart' | 'reset',
  about: string,
  example: string,
): Command {
  return {
    usage: `${order} SERVER…|--all [--wait]`,
    about,
    help: `Examples:\n  toolherd ${order} ${example}\n  toolherd ${order} --all --wait

${REACH}

${EXITS[order]}`,
    options: { all: { type: 'boolean' }, wait: { type: 'boolean' } },
    most: Number.POSITIVE_INFINITY,
    async run(call) {
      const { args, flags, output } = call;
      if (args.length > 0 === (flags.all === true)) {
        throw new UsageError('name servers, or say --all', `usage: toolherd ${order} SERVER…|--all [--wait]`);
      }
      const fleet = await call.fleet();
      const selection = args.length > 0 ? { servers: [...args] } : { all: true as const };
      const servers = await withTimeout(call, fleet[order](selection, flags.wait === true));
      output.json({ servers });
      output.print(statusTable(servers, Date.now(), output.columns, call.environment), paintStates);
      const named = servers.filter(({ name }) => args.includes(name));
      for (const { name, detail } of named)
        if (NOT_ENABLED[detail] !== undefined)
          output.note(`warning: ${name} ${NOT_ENABLED[detail]}: nothing was done`);
      if (flags.wait !== true) return EXIT.ok;
      if (servers.some(({ detail }) => detail === 'needs_auth')) return EXIT.notAllowed;
      if (servers.some(isUnreachable)) return EXIT.cannotReach;
      return servers.some(({ detail }) => FAILED.includes(detail)) ? EXIT.failed : EXIT.ok;
    },
  };
}
