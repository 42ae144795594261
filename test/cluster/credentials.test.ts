import { describe, expect, it } from 'vitest';
import { NatsConnection } from '../../src/cluster/nats-connection.js';
import type { ClusterCredentials } from '../../src/config/fields/spec.js';
import { systemClock } from '../../src/shared/clock.js';
import { startNatsServer, whyNoNatsServer } from '../support/nats-server.js';
import { atEnd } from '../support/share.js';
import { clusterSpec } from './cluster-spec.js';

const missing = whyNoNatsServer();
if (missing !== undefined) console.warn(`the test of unreadable credentials is left out: ${missing}`);

/** Why there is no connection with these credentials. */
async function whyDown(url: string, credentials: ClusterCredentials): Promise<string> {
  return new Promise((resolve) => {
    const connection = new NatsConnection({ ...clusterSpec(url, 'here'), credentials }, systemClock, {
      up: () => resolve('connected'),
      denied: () => undefined,
      fault: resolve,
      down: resolve,
    });
    atEnd(() => connection.close());
  });
}

describe.runIf(missing === undefined)('a file of credentials that is missing', () => {
  it.each(['creds', 'nkey'] as const)(
    'is named as the cause, with the field of the config: %s',
    async (kind) => {
      const { url, folder } = await startNatsServer();
      const file = `${folder}/none.${kind}`;
      const why = await whyDown(url, { kind, file });
      expect(why).toContain(`cannot be read (ENOENT): ${file}`);
      expect(why).toContain("'credentials' of 'cluster'");
      expect(why).not.toContain('no NATS server answers');
    },
  );
});
