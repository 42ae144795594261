import type { JsonObject } from '../../../src/shared/json.js';
import type { Kept, PinStore } from '../../../src/supervisor/pins/pin-files.js';
import type { PinPolicy } from '../../../src/supervisor/pins/pinning.js';
import type { PinRecord } from '../../../src/supervisor/pins/record.js';
import { settled, spec, World } from '../world.js';

export const tool = (name: string, description = `what ${name} does`): JsonObject => ({
  name,
  description,
  inputSchema: { type: 'object' },
});

/** A disk that can be broken. */
export class PinMemory implements PinStore {
  readonly records = new Map<string, PinRecord>();
  unreadable: string | undefined;
  unwritable: string | undefined;
  saves = 0;

  load(identity: string): Kept {
    if (this.unreadable !== undefined) return { problem: this.unreadable };
    const record = this.records.get(identity);
    return record === undefined ? {} : { record };
  }

  save(identity: string, _server: string, record: PinRecord): string | undefined {
    if (this.unwritable !== undefined) return this.unwritable;
    this.saves += 1;
    this.unreadable = undefined;
    this.records.set(identity, record);
    return undefined;
  }

  async prune(): Promise<void> {}
}

/** A herd of one server; `offers` sets its list of tools. */
export function pinnedHerd(policy: PinPolicy, changes: Parameters<typeof spec>[0] = {}) {
  const world = new World();
  const store = new PinMemory();
  const setting = { policy };
  let offered: JsonObject[] | Error | Promise<JsonObject[]> = [tool('a'), tool('b')];
  world.behaviour = () => ({
    opens: true,
    answers: true,
    lists: {
      get 'tools/list'() {
        return offered;
      },
    },
  });
  const begin = () => {
    const herd = world.herd({ pins: { store, policy: () => setting.policy } });
    herd.apply([spec({ name: 'srv', ...changes })]);
    return herd;
  };
  const herd = begin();
  return {
    world,
    store,
    setting,
    herd,
    begin,
    offers(tools: JsonObject[] | Error | Promise<JsonObject[]>) {
      offered = tools;
    },
    /** The server sends list_changed, and its list is read. */
    async announces() {
      world.newest.says('notifications/tools/list_changed');
      await world.passes(2000);
    },
    async call(name: string) {
      const result = herd.view.calls.call({ server: 'srv', tool: name });
      for (let turn = 0; turn < 5; turn += 1) await settled();
      return result;
    },
  };
}
