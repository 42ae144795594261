import { describe, it } from 'vitest';
import { CLIENTS } from '../../src/integrations/index.js';
import { expectRegion, markdownTable } from '../support/docs.js';

const code = (texts: readonly string[]) => texts.map((text) => `\`${text}\``).join(', ');

describe('docs/CLIENTS.md', () => {
  it('names every client and its files (npm run docs)', () => {
    const machine = { platform: 'linux', home: '~', environment: {} };
    const rows = CLIENTS.map((client) => [
      client.title,
      code([client.name]),
      code(client.user(machine)),
      client.project.length === 0 ? 'none' : code(client.project),
      code([client.keys.join('.')]),
    ]);
    const header = ['client', 'name', 'file of the user', 'file of a project', 'key'];
    expectRegion('docs/CLIENTS.md', 'clients', markdownTable(header, rows));
  });
});
