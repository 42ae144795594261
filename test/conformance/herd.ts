import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.js';
import { authorizing, restartAuthorized } from '../../src/daemon/authorize.js';
import { Authorizations } from '../../src/link/auth/authorizations.js';
import { openLink } from '../../src/link/open-link.js';
import { ProcessTable } from '../../src/processes/table.js';
import { systemClock as clock } from '../../src/shared/clock.js';
import { Herd } from '../../src/supervisor/herd/herd.js';

export const SERVER = 'it';

/** A herd of one remote server, in this process: everything that toolherd does towards a server, without the socket. */
export async function openHerd(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'toolherd-conformance-'));
  const configFile = join(folder, 'config.yaml');
  const entry = { name: SERVER, description: 'it', server: SERVER, transport: 'http', url, restart: 'never' };
  writeFileSync(configFile, `version: "1.0"\nmcp_servers:\n  - ${JSON.stringify(entry)}\n`);
  const loaded = await loadConfig({
    configFile,
    configRequired: true,
    userFolder: folder,
    trustFile: join(folder, 'trust.json'),
    environment: {},
    userHome: folder,
  });
  const log = (text: string) => console.error(text);
  const authorizations = new Authorizations({
    file: join(folder, 'auth.json'),
    clock,
    log,
    granted: (name) => restartAuthorized([herd.view], name),
  });
  const table = new ProcessTable({ daemonId: 'conformance', clock });
  const herd = new Herd({
    clock,
    random: Math.random,
    maxStarting: 4,
    listWaitMs: () => 2000,
    redact: (value) => value,
    redactFor: (_, value) => value,
    log: (_, text) => log(text),
    open: (spec, incarnation, on) =>
      openLink(
        spec,
        {
          clock,
          table,
          env: {},
          incarnation,
          clientInfo: { name: 'toolherd', version: '0.0.0' },
          permissions: loaded.settings.security,
          redact: (text) => text,
          authorize: authorizations.layer(spec),
          log: ({ text }) => log(text),
        },
        on,
      ),
  });
  herd.apply(loaded.servers);
  return {
    herd,
    ...authorizing(herd.view, authorizations),
    async close() {
      authorizations.close();
      await herd.shutdown(3000, () => table.killAll());
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
