import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connectSocket } from '../../src/ipc/socket/connect-socket.js';
import { expectRegion, readDoc } from '../support/docs.js';
import { makeFolder } from '../support/folder.js';
import { processesOf, startHerd, until } from '../support/herd.js';
import { answerText, SHOWN } from './answers.js';

const FILE = 'docs/PROTOCOL.md';
const FIXTURE = join(import.meta.dirname, '..', 'fixtures', 'offers.mjs');
const CONFIG = `version: "1.0"
security: {allowed_commands: ["${process.execPath}"]}
mcp_servers:
  - {name: echo, description: d, server: echo, command: "${process.execPath}", args: ["${FIXTURE}"]}
`;

/** The command of the registered server: npm, the script that stands for npx, or what it becomes. */
const GUEST = /\bcat\b|npx|npm/;

/** The daemon of the examples is in no cluster. */
const NODES_ONLY = new Set(['fleet/cluster_drain', 'fleet/cluster_undrain']);

it('every example of docs/PROTOCOL.md works, and gets the answer that it shows (npm run docs)', async () => {
  // the server that is registered is started: what would be downloaded for it is not
  const programs = makeFolder({ npx: '#!/bin/sh\nexec cat >/dev/null\n' });
  chmodSync(join(programs, 'npx'), 0o755);
  const environment = { PATH: `${programs}:${process.env.PATH}` };
  const { home, daemon } = await startHerd(CONFIG, { environment });
  const peer = await connectSocket({ path: home.socket });
  const examples = [...readDoc(FILE).matchAll(/^### (fleet\/\w+)\n[\s\S]*?```json\n([\s\S]*?)\n```/gm)];
  expect(examples.length).toBeGreaterThan(10);
  for (const [, method = '', params = ''] of examples) {
    const request = peer.request(method, JSON.parse(params));
    if (NODES_ONLY.has(method)) {
      await expect(request).rejects.toThrow('this daemon is in no cluster');
      continue;
    }
    const result = (await request) as Record<string, unknown>;
    const shown = SHOWN[method]?.(result);
    if (shown !== undefined) expectRegion(FILE, `answer of ${method}`, answerText(shown, home, FIXTURE));
    if (method === 'fleet/call') {
      expect(result).toMatchObject({ success: true, content: [{ type: 'text', text: 'hi' }] });
      const failed = await peer.request(method, { server: 'echo', tool: 'ehco' });
      expectRegion(FILE, 'answer of a failed call', answerText(failed, home, FIXTURE));
    }
    if (method === 'fleet/call_many' || method === 'fleet/broadcast')
      expect(result.results).toMatchObject([{ success: true, content: [{ type: 'text', text: 'hi' }] }]);
    // a server that is still stopping would be in the report of the shutdown
    if (method === 'fleet/unregister')
      await until(() => !processesOf(daemon.id).some(({ words }) => GUEST.test(words)));
    if (method === 'fleet/status') expect(result.servers).toHaveLength(1);
    if (method === 'fleet/shutdown') expect(result).toEqual({ stopped: [], killed: [], attached: 0 });
  }
  peer.end();
});
