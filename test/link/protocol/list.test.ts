import { describe, expect, it } from 'vitest';
import { errorOf, openLink, specOf } from '../support.js';

describe('a list that is too much', () => {
  it.each([
    ['in one page', 'whole', '16 MiB'],
    ['in pages without an end, each of which is fine', 'pages', '16 MiB'],
    ['in small pieces, which take far more room than their bytes', 'pieces', '100000 entries'],
  ])('%s is dropped, and its server runs on', async (_, kind, most) => {
    const { link, opened, tool } = openLink(specOf('fat-lists.mjs', {}, [kind]));
    await opened;
    expect(await errorOf(link.list('tools/list'))).toMatchObject({
      type: 'MCPProtocolError',
      message: expect.stringContaining(`it has more than ${most}`),
    });
    expect(await tool('echo')).toBe('');
  });
});
