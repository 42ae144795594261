import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { LEGACY_VERSIONS, readGreeting } from '../../../src/link/legacy/greeting.js';

const SOUND = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 's', version: '1' } };

describe('the reply to initialize', () => {
  it('may be of every version that the SDK speaks, and the newest is asked for', () => {
    expect([...LEGACY_VERSIONS]).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
    expect(LEGACY_VERSIONS[0]).toBe(LATEST_PROTOCOL_VERSION);
  });

  it('is taken as it came', () => {
    const serverInfo = { name: 's', version: '1', unheardOf: [1] };
    expect(readGreeting({ ...SOUND, serverInfo, instructions: 7, more: true })).toEqual({
      ...{ ...SOUND, serverInfo },
      instructions: undefined,
    });
  });

  it.each([
    {},
    { ...SOUND, protocolVersion: 20250618 },
    { ...SOUND, capabilities: [] },
    { ...SOUND, capabilities: undefined },
    { ...SOUND, serverInfo: 's' },
    { ...SOUND, serverInfo: { name: 's' } },
    { ...SOUND, serverInfo: { name: 7, version: '1' } },
  ])('of another shape is none: %j', (result) => {
    expect(() => readGreeting(result)).toThrow('the reply to initialize has the wrong shape');
  });

  it('of a version that nobody knows is refused, with that version', () => {
    expect(() => readGreeting({ ...SOUND, protocolVersion: '1999-01-01' })).toThrow(
      'its protocol version is not supported: 1999-01-01',
    );
  });
});
