import { EXIT } from './exit-codes.js';
import { statusTable } from './status-table.js';
import { UsageError, type Verb } from './verb.js';

/** start, stop, restart and reset are one verb in four words. */
export function orderVerb(
  order: 'start' | 'stop' | 'restart' | 'reset',
  about: string,
  example: string,
): Verb {
  return {
    usage: `${order} SERVER…|--all [--wait]`,
    about,
    help: `Examples:\n  toolherd ${order} ${example}\n  toolherd ${order} --all --wait`,
    options: { all: { type: 'boolean' }, wait: { type: 'boolean' } },
    most: Number.POSITIVE_INFINITY,
    async run(call) {
      const { args, flags, output } = call;
      if (args.length > 0 === (flags.all === true)) {
        throw new UsageError('name servers, or say --all', `usage: toolherd ${order} SERVER…|--all [--wait]`);
      }
      const fleet = await call.fleet();
      const selection = args.length > 0 ? { servers: [...args] } : { all: true as const };
      const servers = await fleet[order](selection, flags.wait === true);
      output.json({ servers });
      output.print(statusTable(servers, Date.now()));
      if (flags.wait !== true) return EXIT.ok;
      if (servers.some(({ detail }) => detail === 'needs_auth')) return EXIT.notAllowed;
      return servers.some(({ detail }) => detail === 'quarantined' || detail === 'waiting')
        ? EXIT.failed
        : EXIT.ok;
    },
  };
}
