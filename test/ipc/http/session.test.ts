import { describe, expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { startHerd } from '../../support/herd.js';
import { HttpClient } from './support.js';

describe('smoke', () => {
  it('lists and calls', async () => {
    const herd = await startHerd(config([server('good', 'good.mjs')]));
    const client = new HttpClient({ socketPath: herd.home.socket });
    const hello = await client.initialize();
    console.log(hello.status, hello.headers, hello.text);
    console.log(JSON.stringify(await client.request('tools/list')).slice(0, 600));
    expect((await client.end()).status).toBe(204);
    console.log((await client.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).text);
  });
});
