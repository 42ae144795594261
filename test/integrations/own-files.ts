import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS } from '../../src/integrations/index.js';

const FOLDER = join(import.meta.dirname, 'own-files');

/**
 * Files as the clients write them, each with the servers `memory` and `remote`, by the name of the client: where it is in
 * the user's home, and its bytes. `CLIENT mcp add` wrote them (November 2026); Continue and goose have no such command.
 */
export const OWN_FILES: Readonly<Record<string, [file: string, text: string]>> = Object.fromEntries(
  readdirSync(FOLDER).map((name) => {
    const [client = '', ending = ''] = name.split('.');
    const files = CLIENTS.find((one) => one.name === client)?.user({
      platform: 'linux',
      home: '',
      environment: {},
    });
    const file = files?.find((one) => one.endsWith(`.${ending}`)) ?? files?.[0] ?? '';
    return [client, [file, readFileSync(join(FOLDER, name), 'utf8')]];
  }),
);
