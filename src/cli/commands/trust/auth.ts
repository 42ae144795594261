import { readFileSync } from 'node:fs';
import type { AuthorizeReport, Fleet } from '../../../fleet/fleet.js';
import { type Command, type CommandContext, UsageError } from '../../core/command.js';
import { parseDuration } from '../../core/duration.js';
import { EXIT } from '../../core/exit-codes.js';
import { openBrowser } from '../../ui/open-browser.js';

const USAGE = 'auth SERVER [--no-browser] [--client-id ID [--client-secret-stdin]] [--logout]';

export const verb: Command = {
  usage: USAGE,
  about: `Authorises toolherd at a remote server that asks for it (OAuth): prints the address that a person has to open,
opens it in a browser when there is a terminal, waits, and starts the server.`,
  help: `Examples:
  toolherd auth github
  toolherd auth github --no-browser          only prints the address
  toolherd auth github --client-id ID --client-secret-stdin < secret.txt
                                             with a client that was registered by hand
  toolherd auth github --client-id https://me.example/client.json
                                             with a client metadata document
  toolherd auth github --logout              forgets the tokens, and a client that was given

Tokens are kept in auth.json of the state folder, which nobody else can read, and are renewed before they end.
Exit status: 0 authorised, 77 not authorised, 124 nobody answered in time (--timeout, at most 5m).`,
  options: {
    'no-browser': { type: 'boolean' },
    'client-id': { type: 'string' },
    'client-secret-stdin': { type: 'boolean' },
    logout: { type: 'boolean' },
  },
  most: 1,
  async run(call) {
    const [server] = call.args;
    const { flags, output } = call;
    if (server === undefined) throw new UsageError('name a server', `usage: toolherd ${USAGE}`);
    if (flags['client-secret-stdin'] === true && flags['client-id'] === undefined) {
      throw new UsageError('a client secret needs its client id', `usage: toolherd ${USAGE}`);
    }
    const fleet = await call.fleet();
    if (flags.logout === true) {
      const report = await fleet.logout(server);
      output.json({ ...report });
      output.print(report.forgotten ? `forgotten: ${server}` : `nothing was known of ${server}`);
      return EXIT.ok;
    }
    const asked = await fleet.authorize({ server, ...clientOf(call) });
    if (asked.authorization_url !== null) show(call, asked.authorization_url);
    const report = await untilDone(call, fleet, server);
    if (report === undefined) return EXIT.timeout;
    const [status] = (await fleet.status([server])).servers;
    output.json({ ...report, status });
    output.print(`authorised: ${server} (${status?.state}, ${status?.detail})`);
    return EXIT.ok;
  },
};

/** The secret comes from a file or a pipe: a command line is for all to see. */
function clientOf({ flags }: CommandContext): { client_id?: string; client_secret?: string } {
  if (typeof flags['client-id'] !== 'string') return {};
  const secret = flags['client-secret-stdin'] === true ? readFileSync(0, 'utf8').trim() : '';
  return { client_id: flags['client-id'], ...(secret === '' ? {} : { client_secret: secret }) };
}

function show({ flags, output, isInteractive }: CommandContext, url: string): void {
  output.note(`open this address to authorise toolherd:${output.isJson ? ` ${url}` : ''}`);
  output.print(url);
  if (flags['no-browser'] !== true && !output.isJson && isInteractive()) openBrowser(url);
}

/** Undefined when the time was up; the daemon waits on, and the address stays good until it gives up. */
async function untilDone(
  call: CommandContext,
  fleet: Fleet,
  server: string,
): Promise<AuthorizeReport | undefined> {
  const { flags, output } = call;
  const done = fleet.authorize({ server, wait: true });
  if (typeof flags.timeout !== 'string') return done;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), parseDuration(flags.timeout as string));
  });
  const report = await Promise.race([done, late]).finally(() => clearTimeout(timer));
  if (report === undefined) {
    done.catch(() => undefined);
    const fix = `run "toolherd auth ${server}" again: it goes on with the same address`;
    output.json({
      ok: false,
      error: { type: 'MCPTimeoutError', message: `${server}: not authorised yet`, fix },
    });
    output.error(`error: ${server}: nobody has authorised it in ${flags.timeout}\n  fix: ${fix}`);
  }
  return report;
}
