import { fileSchema } from '../../../config/json-schema.js';
import { type Command, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';

export const verb: Command = {
  usage: 'schema [agent|config]',
  about: 'Prints the JSON Schema of agent.yaml and config.yaml, for editors that check as you type.',
  help: `Examples:
  toolherd schema agent > agent.schema.json     then, in the first line of agent.yaml:
                                                # yaml-language-server: $schema=agent.schema.json
  toolherd schema config > config.schema.json
  toolherd schema                               both, under "agent" and "config"`,
  options: {},
  most: 1,
  async run({ args: [kind], output }) {
    if (kind !== undefined && kind !== 'agent' && kind !== 'config') {
      throw new UsageError(`there is no schema '${kind}'`, 'usage: toolherd schema [agent|config]');
    }
    const schema =
      kind === undefined ? { agent: fileSchema('agent'), config: fileSchema('config') } : fileSchema(kind);
    output.print(JSON.stringify(schema, null, 2));
    output.json({ schema });
    return EXIT.ok;
  },
};
