import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { HttpSpec } from '../../../src/config/fields/spec.js';
import { Authorizations } from '../../../src/link/auth/authorizations.js';
import { type Clock, systemClock } from '../../../src/shared/clock.js';
import { makeFolder } from '../../support/folder.js';
import { specOf } from '../spec.js';
import { approve } from './oauth-server.js';

export function httpSpec(url: string, changes: Partial<HttpSpec> = {}): HttpSpec {
  const { command: _, args: _a, cwd: _c, encoding: _e, ...common } = specOf('guarded');
  return {
    ...common,
    transport: 'http',
    url,
    headers: {},
    timeoutMs: 5000,
    sseReadTimeoutMs: 5000,
    terminateOnClose: true,
    ...changes,
  } as HttpSpec;
}

/** Authorisations in a folder of their own, on a clock that can be put forward. */
export function makeAuthorizations(
  folder = makeFolder(),
  timers: Pick<Clock, 'setTimeout' | 'clearTimeout'> = systemClock,
) {
  let aheadMs = 0;
  const granted: string[] = [];
  const logged: string[] = [];
  const file = join(folder, 'state', 'auth.json');
  const clock: Clock = {
    setTimeout: (fire, ms) => timers.setTimeout(fire, ms),
    clearTimeout: (timer) => timers.clearTimeout(timer),
    now: () => systemClock.now() + aheadMs,
  };
  const log = (text: string) => void logged.push(text);
  const authorizations = new Authorizations({ file, clock, log, granted: ({ name }) => granted.push(name) });
  onTestFinished(() => authorizations.close());
  const forward = (ms: number) => {
    aheadMs += ms;
  };
  return { authorizations, folder, file, granted, logged, forward };
}

/** What a transport does: posts one message, and reads the status. */
export async function post(
  authorizations: Authorizations,
  spec: HttpSpec,
  method = 'tools/list',
): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method });
  const send = authorizations.layer(spec)!(fetch);
  const response = await send(spec.url, { method: 'POST', body, headers: spec.headers });
  await response.text();
  return response.status;
}

/** Runs the whole flow, up to the tokens. */
export async function obtain(authorizations: Authorizations, spec: HttpSpec): Promise<void> {
  const progress = await authorizations.authorize(spec);
  if (progress.state !== 'waiting') throw new Error('it is authorised already');
  await approve(progress.url);
  await progress.done;
}
