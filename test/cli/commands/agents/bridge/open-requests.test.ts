import { describe, expect, it } from 'vitest';
import { OpenRequests } from '../../../../../src/cli/commands/agents/bridge/open-requests.js';

const line = (message: object) => Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
const subscribe = (id: number, uri: string) => line({ id, method: 'resources/subscribe', params: { uri } });
const error = { code: -32002, message: 'no such resource' };

describe('requests that the bridge repeats to the next daemon', () => {
  it('is no subscription that was refused', () => {
    const ledger = new OpenRequests();
    ledger.sent(subscribe(1, 'note://one'));
    ledger.sent(subscribe(2, 'note://none'));
    ledger.sent(Buffer.from(`[${subscribe(3, 'note://neither')}]`));
    expect(ledger.subscribed).toHaveLength(3);
    ledger.came(line({ id: 1, result: {} }));
    ledger.came(line({ id: 2, error }));
    ledger.came(Buffer.from(`[${line({ id: 3, error })}]`));
    expect(ledger.subscribed).toEqual(['note://one']);
  });

  it('do not include a subscription whose client got an error', () => {
    const ledger = new OpenRequests();
    ledger.sent(subscribe(1, 'note://one'));
    ledger.came(line({ id: 1, result: {} }));
    ledger.sent(subscribe(2, 'note://two'));
    ledger.lost();
    expect(ledger.subscribed).toEqual(['note://one']);
  });
});
