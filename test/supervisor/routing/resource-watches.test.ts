import { describe, expect, test } from 'vitest';
import { MCPProtocolError } from '../../../src/shared/call-errors.js';
import { type FakeLinkBehaviour, HELLO } from '../fake-link.js';
import { settled, spec, World } from '../world.js';
import { LISTED, LISTS, MUTE, URI, unlistedResource } from './unlisted-resource.js';

describe('a watch of a resource', () => {
  test('moves to the changed server, also when that server is read later than list_wait', async () => {
    const world = new World();
    world.behaviour = () => ({ answers: true, lists: LISTS });
    const opened = { ...HELLO, capabilities: { resources: { subscribe: true } } };
    const herd = world.herd();
    herd.apply([spec()]);
    await herd.view.order('start', { all: true });
    await settled();
    world.newest.opens(opened);
    await settled();
    const told: unknown[] = [];
    await herd.view.watches.watch({ uri: 'note://a' }, (params) => told.push(params));
    herd.apply([spec({ args: ['changed'] })]);
    await settled();
    await world.passes(10_000);
    expect([world.links.length, world.newest.life]).toEqual([2, 'starting']);
    world.newest.opens(opened);
    await world.passes(10);
    expect([world.newest.watched, told]).toEqual([['note://a'], [{ uri: 'note://a' }]]);
  });

  test('is refused with an error that has no value declared for its server', async () => {
    const world = new World();
    world.behaviour = () => ({ answers: true, lists: LISTS });
    const redactFor = <T>({ name }: { name: string }, value: T): T =>
      JSON.parse(JSON.stringify(value).replaceAll(`secret of ${name}`, '***')) as T;
    const herd = world.herd({ redactFor });
    herd.apply([spec()]);
    await herd.view.order('start', { all: true });
    await settled();
    world.newest.opens({ ...HELLO, capabilities: { resources: { subscribe: true } } });
    await settled();
    world.newest.watch = () => Promise.reject(new MCPProtocolError('srv: no, by the secret of srv'));
    const watching = herd.view.watches.watch({ uri: 'note://a' }, () => undefined);
    await expect(watching).rejects.toMatchObject({ message: 'srv: no, by the ***' });
  });
});

describe('while a server starts, a resource that no known list has', () => {
  test.each<FakeLinkBehaviour['lists']>([
    LISTED,
    { 'resources/templates/list': [{ uriTemplate: 'other://{id}', name: 'others' }] },
  ])('is watched at the other server, and moves when the list comes (%o)', async (lists) => {
    const { watch, watched, comes, told } = await unlistedResource(lists);
    const end = await watch();
    expect([watched(), told]).toEqual([[[URI], []], []]);
    await comes();
    expect([watched(), told]).toEqual([[[], [URI]], [{ uri: URI }]]);
    end();
    await settled();
    expect(watched()).toEqual([[], []]);
  });

  test('stays watched at the other server if the server that lists it cannot subscribe', async () => {
    const { watch, watched, comes, told } = await unlistedResource();
    const end = await watch();
    await comes(MUTE);
    expect([watched(), told]).toEqual([[[URI], []], []]);
    end();
    await settled();
    expect(watched()).toEqual([[], []]);
  });

  test('stays watched at the server that the watch names', async () => {
    const { watch, watched, comes } = await unlistedResource();
    await watch('first');
    await comes();
    expect(watched()).toEqual([[URI], []]);
  });

  test('stays watched at the other server if that server lists it too', async () => {
    const { first, world, watch, watched, comes } = await unlistedResource();
    await watch();
    first.behaviour = { ...first.behaviour, lists: LISTED };
    first.says('notifications/resources/list_changed');
    await world.passes(1000);
    await comes();
    expect(watched()).toEqual([[URI], []]);
  });

  test('is watched nowhere after the watch ended during its move', async () => {
    const { second, watch, watched, comes, told } = await unlistedResource();
    const end = await watch();
    let asked = () => {};
    const plain = second.watch.bind(second);
    second.watch = (uri) => new Promise((resolve) => (asked = () => resolve(plain(uri))));
    await comes();
    end();
    asked();
    await settled();
    expect([watched(), told]).toEqual([[[], []], []]);
  });
});
