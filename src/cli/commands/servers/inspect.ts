import { type Command, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';

export const verb: Command = {
  usage: 'inspect SERVER [--chart mermaid|svg]',
  about: 'Shows everything about one server: its spec (secrets taken out), its states, its story.',
  help: `Examples:
  toolherd inspect memory
  toolherd inspect memory --chart svg > memory.svg        the statechart, the present state marked
  toolherd inspect memory --chart mermaid`,
  options: { chart: { type: 'string' } },
  most: 1,
  async run(call) {
    const { args, flags, output } = call;
    const [name] = args;
    if (name === undefined) throw new UsageError('name a server', 'usage: toolherd inspect SERVER');
    const { chart } = flags;
    if (chart !== undefined && chart !== 'mermaid' && chart !== 'svg') {
      throw new UsageError(`there is no chart '${chart}'`, 'write --chart mermaid or --chart svg');
    }
    const fleet = await call.fleet();
    const inspection = await fleet.inspect(name);
    if (chart !== undefined) {
      const { drawServer } = await import('./chart.js');
      const picture = drawServer(chart, inspection.snapshot.server);
      output.json({ chart: picture });
      if (!output.isJson) output.printRaw(`${picture}\n`);
      return EXIT.ok;
    }
    output.json({ ...inspection });
    output.print(JSON.stringify(inspection, null, 2));
    return EXIT.ok;
  },
};
