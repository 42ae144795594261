import type { AuthorizeReport, Fleet } from '../../../fleet/fleet.js';
import { withTimeout } from '../../../shared/async.js';
import { systemClock } from '../../../shared/clock.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { type CommandContext, defineCommand, UsageError } from '../../core/command.js';
import { formatDuration } from '../../core/duration.js';
import { readInput } from '../../core/read-input.js';
import { printError } from '../../core/report-error.js';
import { startProgram } from '../../core/run-program.js';

export const command = defineCommand({
  name: 'auth',
  summary: 'Authorises toolherd at a remote server that requires it (OAuth).',
  details: `It prints the address that a person has to open.
On a terminal it opens the address in a browser.
Then it waits, and starts the server.
Tokens are kept in auth.json in the state folder, which only you can read.
toolherd renews them before they expire.`,
  args: { server: { complete: 'server' } },
  options: {
    'no-browser': { type: 'boolean', about: 'only print the address' },
    'client-id': {
      type: 'string',
      label: 'ID',
      about: 'a client you registered, or the URL of its metadata',
    },
    'client-secret-stdin': { type: 'boolean', about: 'read the secret of that client from stdin' },
    logout: { type: 'boolean', about: 'forget the tokens and the client' },
  },
  examples: [
    'toolherd auth github',
    'toolherd auth github --no-browser',
    'toolherd auth github --client-id ID --client-secret-stdin < secret.txt',
    'toolherd auth github --client-id https://me.example/client.json',
    'toolherd auth github --logout',
  ],
  exits: {
    ok: 'authorised, or the server needs none',
    notAllowed: 'not authorised',
    timeout: 'not authorised in time (--timeout, at most 5m)',
  },
  ownTimeout: true,
  async run(context) {
    const { args, options, output } = context;
    const { server } = args;
    if (options['client-secret-stdin'] && options['client-id'] === undefined) {
      throw new UsageError('a client secret needs its client id');
    }
    const fleet = await context.fleet();
    if (options.logout) {
      const report = await fleet.logout(server);
      output.json({ ...report });
      output.print(report.forgotten ? `forgotten: ${server}` : `no tokens are stored for ${server}`);
      return EXIT.ok;
    }
    const asked = await fleet.authorize({ server, ...clientOf(context, options) });
    const [known] = (await fleet.status([server])).servers;
    if (known?.transport === 'stdio') {
      output.json({ ...asked, status: known });
      output.print(`${server} needs no authorisation: it is a command, not a remote server`);
      return EXIT.ok;
    }
    if (asked.authorization_url !== null) show(context, asked.authorization_url, !options['no-browser']);
    const report = await untilDone(context, fleet, server);
    if (report === undefined) return EXIT.timeout;
    const [status] = (await fleet.status([server])).servers;
    output.json({ ...report, status });
    output.print(`authorised: ${server} (${status?.state}, ${status?.detail})`);
    return EXIT.ok;
  },
});

interface ClientOptions {
  'client-id': string | undefined;
  'client-secret-stdin': boolean;
}

/** The secret comes from stdin, because other users can see a command line. */
function clientOf(
  context: CommandContext,
  options: ClientOptions,
): { client_id?: string; client_secret?: string } {
  if (options['client-id'] === undefined) return {};
  const secret = options['client-secret-stdin'] ? readInput(context, '-').trim() : '';
  return { client_id: options['client-id'], ...(secret === '' ? {} : { client_secret: secret }) };
}

function show({ output, environment, isInteractive }: CommandContext, url: string, mayOpen: boolean): void {
  output.note(`open this address to authorise toolherd:${output.isJson ? ` ${url}` : ''}`);
  output.print(url);
  if (mayOpen && !output.isJson && isInteractive()) openBrowser(url, environment);
}

/** No browser is not an error: the address is printed too. */
function openBrowser(url: string, environment: CommandContext['environment']): void {
  const { protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return;
  startProgram([process.platform === 'darwin' ? 'open' : 'xdg-open', url], { ...environment });
}

/** Undefined when --timeout is over. The daemon goes on waiting, and the address stays valid until it gives up. */
async function untilDone(
  { globals: { timeout }, output }: CommandContext,
  fleet: Fleet,
  server: string,
): Promise<AuthorizeReport | undefined> {
  const done = fleet.authorize({ server, wait: true });
  if (timeout === undefined) return done;
  const report = await withTimeout(timeout, done, systemClock);
  if (report === undefined) {
    const fix = `run "toolherd auth ${shellWord(server)}" again: it goes on with the same address`;
    const type = 'MCPTimeoutError';
    output.json({ ok: false, error: { type, message: `${server}: not authorised yet`, fix } });
    const message = `${server}: it was not authorised within ${formatDuration(timeout)}`;
    printError(output, { type, message, fix });
  }
  return report;
}
