import { describe, expect, it } from 'vitest';
import type { CallParams, FleetEvent } from '../../src/fleet/fleet.js';
import { config } from '../faults/config.js';
import { startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { share } from '../support/share.js';
import { type Moves, VARIANTS } from './variants.js';

/** The same twelve behaviours over every transport and both eras. */
describe.each(VARIANTS)('SC-007: over $name', ({ moves, version, loss, prepare }) => {
  const sharedHerd = share(async () => {
    const prepared = await prepare();
    const entry = {
      ...prepared.entry,
      backoff: { min: 0.1, max: 0.5, factor: 2, jitter: 0 },
      max_restarts: 20,
    };
    const herd = await startHerd(config([entry], { log_level: 'debug' }));
    const { fleet } = herd;
    const events: FleetEvent[] = [];
    const listen = (topic: FleetEvent['topic']) =>
      fleet.subscribe([topic], (event) => void events.push(event));
    const call = (move: Omit<CallParams, 'server'>, context = {}) => {
      const { tool, arguments: args, timeout_ms } = move;
      return fleet.call({ server: 'it', tool, arguments: args, timeout_ms }, context);
    };
    const first = <T extends FleetEvent['topic']>(
      topic: T,
      isIt: (event: FleetEvent & { topic: T }) => boolean,
    ) =>
      until(() => events.find((event) => event.topic === topic && isIt(event as FleetEvent & { topic: T })));
    return { ...prepared, ...herd, listen, call, first };
  });

  it('FR-002 FR-005 FR-006 FR-007 FR-013 FR-014 FR-022 US4.2 US5.3: lists, calls, errors, prompts and resources', async () => {
    const { fleet, call, status } = sharedHerd();
    const { prompt, resource } = moves;
    const { tools } = await fleet.tools('it');
    expect(tools.map(({ name }) => name)).toContain(moves.tool);
    const result = await call(moves.call);
    expect(result).toMatchObject({ success: true, content: [{ type: 'text', text: moves.call.text }] });
    expect(await status('it')).toMatchObject({
      state: 'connected',
      protocol_version: expect.stringMatching(version),
    });

    const failed = await call(moves.fails);
    expect(failed).toMatchObject({
      success: false,
      metadata: { is_error: true },
      error: { type: 'MCPToolError' },
    });
    const missing = fleet.prompt({ server: 'it', name: prompt.name, arguments: {} });
    await expect(missing).rejects.toMatchObject({ type: 'MCPProtocolError' });

    expect((await fleet.prompts('it')).prompts.map(({ name }) => name)).toContain(prompt.name);
    const got = await fleet.prompt({ server: 'it', name: prompt.name, arguments: prompt.arguments });
    expect(JSON.stringify(got.messages)).toContain(prompt.text);
    expect((await fleet.resources('it')).resources.map(({ uri }) => uri)).toContain(resource.uri);
    const read = await fleet.resource({ server: 'it', uri: resource.uri });
    expect(JSON.stringify(read.contents)).toContain(resource.text);
  });

  it('FR-016 FR-027 FR-028 US4.4 US5.4: progress, cancelling, timeouts, logs and changed lists', async () => {
    const { fleet, call, status, listen, first } = sharedHerd();
    await fleet.tools('it');
    await fleet.resources('it');
    const progress: number[] = [];
    const slow = await call(moves.progress, {
      onProgress: (step: Record<string, unknown>) => void progress.push(Number(step.progress)),
    });
    expect(slow.success).toBe(true);
    expect(progress).toEqual(Array.from({ length: moves.progress.steps }, (_, index) => index + 1));

    const cancelling = new AbortController();
    const cancelled = call(moves.endless, { signal: cancelling.signal });
    await until(async () => (await status('it')).in_flight === 1);
    cancelling.abort(new Error('enough'));
    expect((await cancelled).error).toMatchObject({ type: 'CancelledError', sent: true });
    const late = await call({ ...moves.endless, timeout_ms: 200 });
    expect(late.error).toMatchObject({ type: 'MCPTimeoutError', sent: true });
    expect((await call(moves.call)).success).toBe(true);
    await until(async () => (await status('it')).in_flight === 0);

    listen('log');
    await call(moves.logs);
    const said = await first('log', ({ logger }) => logger !== 'stderr' && logger !== 'toolherd');
    expect(said).toMatchObject({ server: 'it', level: expect.any(String), message: expect.any(String) });

    listen('catalog');
    expect((await call(moves.changes)).success).toBe(true);
    const change = await first(
      'catalog',
      ({ list, added }) => list === moves.changes.list && added.length > 0,
    );
    const names = await namesIn(fleet, moves.changes.list);
    expect(names).toEqual(expect.arrayContaining((change as { added: string[] }).added));
  });

  it('U6 FR-023 SC-006: a crash during a call is an error within a second; the returned server serves the next call', async () => {
    const { call, status, crash, revive } = sharedHerd();
    await call(moves.call);
    const lost = call(moves.endless);
    await until(async () => (await status('it')).in_flight === 1);
    const before = performance.now();
    await crash((await status('it')).pids);
    const { error } = await lost;
    expect(performance.now() - before).toBeLessThan(1000 + NOISE_MS);
    expect(error).toMatchObject({ type: loss, sent: true });
    await revive();
    await until(async () => (await call(moves.call)).success);
  });
});

async function namesIn(
  fleet: {
    tools(server: string): Promise<{ tools: { name: string }[] }>;
    resources(server: string): Promise<{ resources: { uri: string }[] }>;
  },
  list: Moves['changes']['list'],
): Promise<string[]> {
  if (list === 'tools') return (await fleet.tools('it')).tools.map(({ name }) => name);
  return (await fleet.resources('it')).resources.map(({ uri }) => uri);
}
