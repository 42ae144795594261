import type { Opened } from '../../../src/link/link.js';
import { type FakeLink, type FakeLinkBehaviour, HELLO } from '../fake-link.js';
import { settled, spec, World } from '../world.js';

export const LISTS = { 'prompts/list': [{ name: 'p' }], 'resources/list': [{ uri: 'note://a', name: 'a' }] };

export const URI = 'other://x';
const TELLS = { ...HELLO, capabilities: { resources: { subscribe: true } } };
export const MUTE = { ...HELLO, capabilities: { resources: {} } };
export const LISTED = { 'resources/list': [{ uri: URI, name: 'x' }] };

/** `first` is the only one that is known to offer resources; `second` is about to start and has `lists`. */
export async function unlistedResource(lists: FakeLinkBehaviour['lists'] = LISTED) {
  const world = new World();
  world.behaviour = ({ name }) => ({ answers: true, lists: name === 'first' ? LISTS : lists! });
  const herd = world.herd();
  herd.apply([spec({ name: 'first' }), spec({ name: 'second' })]);
  void herd.view.order('start', { all: true });
  await settled();
  const [first, second] = world.links as [FakeLink, FakeLink];
  first.opens(TELLS);
  await settled();
  const told: unknown[] = [];
  const watch = async (server?: string) => {
    const watching = herd.view.watches.watch({ uri: URI, server }, (params) => told.push(params));
    await world.passes(2500);
    return watching;
  };
  const watched = () => [first.watched, second.watched];
  /** The second server does its handshake and is read. */
  const comes = async (opened: Opened = TELLS) => {
    second.opens(opened);
    await world.passes(100);
  };
  return { world, herd, first, second, watch, watched, comes, told };
}
