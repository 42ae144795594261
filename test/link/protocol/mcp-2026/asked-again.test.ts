import { expect, it } from 'vitest';
import { openLink, specOf } from '../../support.js';

it('a server that refuses our version and lists it as supported is asked once more only', async () => {
  const { opened } = openLink(specOf('discovers.mjs', {}, ['again']));
  expect(await opened).toMatchObject({ protocolVersion: '2026-07-28', serverInfo: { name: 'again' } });
  const stubborn = openLink(specOf('discovers.mjs', {}, ['never']));
  await expect(stubborn.opened).rejects.toThrow();
  expect((await stubborn.ended).kind).toBe('error');
});
