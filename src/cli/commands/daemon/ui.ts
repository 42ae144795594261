import { EXIT } from '../../../shared/report/exit-codes.js';
import { type CommandContext, defineCommand } from '../../core/command.js';
import { runBriefly } from '../../core/run-program.js';

export const command = defineCommand({
  name: 'ui',
  summary: 'Opens the page of the herd in your browser.',
  details: `It shows every server with its state, its history, its logs and its tools, and
can do what the command can.
The daemon serves the page to this machine only, while you look at it and for an
hour after that.
The link works once, within a minute. Then only that browser has the page.

Over ssh, --print the link, and forward the port that it names:
  ssh -L PORT:127.0.0.1:PORT HOST
Then open the link in the browser of your own machine.`,
  options: { print: { type: 'boolean', about: 'only print the link' } },
  examples: ['toolherd ui', ['toolherd ui --print', 'for a browser on another machine']],
  async run(context) {
    const { options, output } = context;
    const fleet = await context.fleet({ viewMode: 'herd' });
    const link = await fleet.ui();
    output.json({ ...link });
    if (output.isJson) return EXIT.ok;
    const why = options.print ? undefined : await openBrowser(context, link.url);
    if (why === OPENED) {
      output.print('opened the page of the herd in your browser');
      return EXIT.ok;
    }
    if (why !== undefined) output.note(`no browser was opened: ${why}; open this link yourself:`);
    output.print(link.url);
    const { port } = new URL(link.url);
    if (isRemote(context)) output.note(`on your own machine, first: ssh -L ${port}:127.0.0.1:${port} HOST`);
    output.note('the link works once, within a minute');
    return EXIT.ok;
  },
});

const OPENED = Symbol('opened');
/** A program that has not ended by then shows the page: where no desktop runs, it is the browser itself. */
const OPENER_MS = 3000;

/** Answers with the reason where it could not. */
async function openBrowser(context: CommandContext, url: string): Promise<string | typeof OPENED> {
  const { environment, isInteractive } = context;
  if (!isInteractive()) return 'no person sits at a terminal here';
  if (isRemote(context)) return 'you are on this machine by ssh';
  const isMac = process.platform === 'darwin';
  if (!isMac && !environment.DISPLAY && !environment.WAYLAND_DISPLAY)
    return 'this terminal has no display (DISPLAY and WAYLAND_DISPLAY are not set)';
  const opener = isMac ? 'open' : 'xdg-open';
  const status = await runBriefly([opener, url], { ...environment }, OPENER_MS);
  if (status === 0 || status === 'running') return OPENED;
  return status === undefined ? `there is no ${opener}` : `${opener} ended with status ${status}`;
}

function isRemote({ environment }: CommandContext): boolean {
  return Boolean(environment.SSH_CONNECTION);
}
