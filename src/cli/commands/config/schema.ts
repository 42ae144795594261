import { fileSchema } from '../../../config/json-schema.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';

export const command = defineCommand({
  name: 'schema',
  summary: 'Prints the JSON Schema of agent.yaml and config.yaml, for editors.',
  details: `Without an argument it prints both, under "agent" and "config".
An editor with a YAML language server checks a file as you type if its first
line is:
  # yaml-language-server: $schema=agent.schema.json`,
  args: { kind: { noun: 'schema', choices: ['agent', 'config'], optional: true } },
  examples: [
    'toolherd schema agent > agent.schema.json',
    'toolherd schema config > config.schema.json',
    'toolherd schema',
  ],
  async run({ args: { kind }, output }) {
    const schema =
      kind === undefined ? { agent: fileSchema('agent'), config: fileSchema('config') } : fileSchema(kind);
    output.print(JSON.stringify(schema, null, 2));
    output.json({ schema });
    return EXIT.ok;
  },
});
