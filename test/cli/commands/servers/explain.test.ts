import { describe, expect, it } from 'vitest';
import { explainServer } from '../../../../src/cli/commands/servers/explain.js';
import type { Detail, Inspection, JournalEntry, JournalKind } from '../../../../src/fleet/fleet.js';
import { config, server } from '../../../faults/config.js';
import { toolherd } from '../../../support/command.js';
import { startHerd, until } from '../../../support/herd.js';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const at = '2026-01-01T00:00:00Z';

function inspection(detail: Detail, journal: JournalEntry[] = [], more: object = {}): Inspection {
  const status = { name: 's', state: 'error', detail, transport: 'stdio', since: at, next_retry_at: null };
  const snapshot = { server: 'error', keeper: detail };
  return {
    server: 's',
    snapshot,
    status: { ...status, last_error: null, ...more },
    journal,
  } as unknown as Inspection;
}

const step = (
  chart: 'server' | 'keeper',
  from: string,
  to: string,
  cause: string,
  kind?: JournalKind,
): JournalEntry => ({
  at,
  incarnation: 1,
  chart,
  from,
  to,
  event: 'link.failed',
  cause,
  ...(kind && { kind }),
});

describe('the text of why', () => {
  it.each([
    [
      'running',
      's is being started, since 1m0s.',
      'it is starting; calls wait for it.',
      'nothing is needed.',
    ],
    ['idle', 's is idle, since 1m0s.', 'it is started by the next call.', 'nothing is needed.'],
    [
      'quarantined',
      's is quarantined, since 1m0s.',
      'one try after a pause: with a call, or without one if its tools are not known or it is eager.',
      '"toolherd reset s".',
    ],
    ['stopped', 's is stopped, since 1m0s.', 'nothing, until it is started.', '"toolherd start s".'],
    [
      'disabled',
      's is disabled in its config, since 1m0s.',
      'nothing, until it is enabled in its config.',
      'set "enabled: true" in its config.',
    ],
    [
      'needs_auth',
      's does not run: it needs an authorisation, since 1m0s.',
      'nothing, until you act.',
      'toolherd auth s.',
    ],
    [
      'not_allowed',
      's does not run: its agent.yaml is not allowed, since 1m0s.',
      'nothing, until its file is back and allowed.',
      '"toolherd allow", with its agent.yaml.',
    ],
  ] as const)('%s: has the state, what happens next and what to do', (detail, is, next, advice) => {
    const lines = explainServer(inspection(detail), NOW, false).split('\n');
    expect(lines[0]).toBe(is);
    expect(lines.slice(-2)).toEqual([`What happens next: ${next}`, `What you can do: ${advice}`]);
  });

  it('why shows the reason for a deleted agent file and how to restore it', () => {
    const last_error = { message: '/a/agent.yaml was deleted', cause: 'withdrawn', fix: 'restore it', at };
    const lines = explainServer(inspection('not_allowed', [], { last_error }), NOW, false).split('\n');
    expect([lines[0], lines.at(-1)]).toEqual([
      's does not run: /a/agent.yaml was deleted, since 1m0s.',
      'What you can do: restore it.',
    ]);
  });

  it('why says of a balanced server which nodes its calls go to', () => {
    const nodes = [{ node: 'gpu', state: 'created', in_flight: 0 }];
    const balanced = { ...inspection('running', [], { nodes }), spec: { cluster: { balanced: true } } };
    expect(explainServer(balanced, NOW, false)).toContain(
      'What happens next: calls go to the least busy node: this one, or gpu.',
    );
  });

  it('why names the agent of a server of another agent', () => {
    const other = inspection('idle', [], { agent: '/a/agent.yaml', other_view: true });
    expect(explainServer(other, NOW, false)).toMatch(/^s \(of \/a\/agent\.yaml\) is idle/);
  });

  it('why shows the time of the next try and the fix for a waiting server', () => {
    const last_error = { message: 'm', cause: 'exit', fix: 'install it', at };
    const waiting = inspection('waiting', [], { last_error, next_retry_at: '2026-01-01T00:01:12Z' });
    expect(explainServer(waiting, NOW, false)).toContain(
      'What happens next: it is tried again in 12s.\nWhat you can do: install it; then "toolherd start s" tries at once.',
    );
  });

  it('why says of a waiting server that a call may start it, and reports the wait once', () => {
    const steps = [
      step('keeper', 'running.starting.connecting', 'waiting.holding', 'HTTP 404', 'waiting'),
      step('keeper', 'waiting.holding', 'waiting.callable', 'the last try is long ago', 'callable'),
    ];
    const waiting = inspection('waiting', steps, { next_retry_at: '2026-01-01T00:05:00Z' });
    const told = explainServer(waiting, NOW, false);
    expect(told).toContain('What happens next: it is tried again in 4m0s, or by the next call.');
    expect(told.match(/toolherd waits before/g)).toHaveLength(1);
  });

  it('why shows the reason, the stderr and the fix of a restart after a failure; a running server has none', () => {
    const why = 'a port is taken; the last lines on stderr:\nError: EADDRINUSE';
    const last_error = { message: 'm', cause: 'exit', why, fix: 'end what has it', at };
    const trying = explainServer(inspection('running', [], { state: 'connecting', last_error }), NOW, false);
    expect(trying).toContain('ago: a port is taken; the last lines on stderr:\n    | Error: EADDRINUSE\n');
    expect(trying).toContain('What you can do: end what has it.');
    const running = explainServer(inspection('running', [], { state: 'connected', last_error }), NOW, false);
    expect(running).not.toContain('EADDRINUSE');
    expect(running).toContain('nothing is needed');
  });

  it('why names the pins command for changed tools', () => {
    const unaccepted = { tools: 1, blocked: true };
    expect(explainServer(inspection('idle', [], { unaccepted }), NOW, false)).toContain(
      'What you can do: see the difference with "toolherd pins s", and accept it with --accept if it is wanted.',
    );
  });

  it('has names of inner states only with -v', () => {
    const journal = [
      step('keeper', 'idle', 'running.starting.queued', 'a call came', 'starting'),
      step('server', '', 'created', 'a new incarnation'),
      step('keeper', 'running.starting.queued', 'running.starting.connecting', 'it is its turn to start'),
      step('server', 'created', 'connecting.opening', 'it is its turn to start', 'started'),
      step('server', 'connecting.opening', 'connected.discovering', 'the handshake is done', 'ready'),
      step('keeper', 'running.starting.connecting', 'running.up', 'the handshake is done'),
      step('server', 'connected.discovering', 'connected.serving', 'its lists were read'),
      step('server', 'connected.serving', 'error', 's: exited with\ncode 7', 'failed'),
      step('keeper', 'running.up', 'waiting', 's: exited with\ncode 7', 'waiting'),
      step('keeper', 'waiting', 'quarantined', 'x', 'quarantined'),
    ];
    const text = explainServer(inspection('quarantined', journal), NOW, false);
    expect(text.split('\n').slice(2, -3)).toEqual([
      'What happened:',
      '  1m0s ago    toolherd starts it: a call came',
      '  1m0s ago    process 1 is started',
      '  1m0s ago    process 1 is ready: the handshake is done',
      '  1m0s ago    process 1 failed: exited with\uFFFDcode 7',
      '  1m0s ago    toolherd waits before it tries again',
      '  1m0s ago    toolherd quarantined it: it failed too often, or a restart cannot help',
    ]);
    const verbose = explainServer(inspection('quarantined', journal), NOW, true);
    expect(verbose).toContain('keeper: idle → running.starting.queued, because: a call came');
    expect(verbose.split('\n')).toHaveLength(journal.length + 6);
  });

  it('has a failed start once, with its cause', () => {
    const journal = [
      step('server', 'created', 'connecting.opening', 'it is its turn to start', 'started'),
      step(
        'server',
        'connecting.opening',
        'connecting.aborting.asking',
        "s: command 'x' does not exist",
        'failed',
      ),
      step('server', 'connecting.aborting.asking', 'error', 'closed, nothing of it is left'),
    ];
    expect(explainServer(inspection('quarantined', journal), NOW, false).split('\n').slice(3, -3)).toEqual([
      '  1m0s ago    process 1 is started',
      "  1m0s ago    process 1 failed: command 'x' does not exist",
    ]);
  });

  it('does not call a stopped start a failure', () => {
    const journal = [
      step('server', 'connecting.opening', 'connecting.aborting.asking', 'stop was ordered', 'asked_to_exit'),
    ];
    expect(explainServer(inspection('stopped', journal), NOW, false)).toContain(
      'process 1 is asked to exit: stop was ordered',
    );
  });

  it('has a real crash and the restart after it', async () => {
    const herd = await startHerd(config([server('good', 'good.mjs')]));
    await herd.say('good', 'exit', { code: 7 });
    await until(async () => (await herd.status('good')).incarnation === 2);
    await until(async () => (await herd.status('good')).state === 'connected');
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    const { stdout } = await toolherd(['why', 'good'], options);
    const told = [...stdout.matchAll(/^ {2}\S+ ago +(.*)$/gm)].map(([, text]) => text);
    expect(told).toEqual([
      'toolherd starts it: a call came, or a list was wanted',
      'process 1 is started',
      'process 1 is ready: the handshake is done',
      'process 1 failed: exited with code 7',
      'toolherd starts it again at once',
      'process 2 is started',
      'process 2 is ready: the handshake is done',
    ]);
  });
});
