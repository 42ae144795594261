/**
 * The real world: real child processes, and the truth about them as the system tells it. Time is real too, but the
 * supervisor's own timers fire only when the test skips to them, so that the test makes everything happen.
 */

import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { StdioSpec } from '../../src/config/fields/spec.js';
import type { Link } from '../../src/link/link.js';
import { openLink } from '../../src/link/open-link.js';
import { ProcessTable } from '../../src/processes/table.js';
import { type Clock, systemClock } from '../../src/shared/clock.js';
import type { OpenLink } from '../../src/supervisor/server/link-actor.js';
import { remembering } from '../link/protocol/negotiation/remembering.js';
import { specOf } from '../link/spec.js';
import { alive } from '../link/support.js';
import { makeFolder } from '../support/folder.js';

/** Its time is the system's and what was skipped; its timers fire when they are skipped to, and not before. */
export class SkippingClock implements Clock {
  #skippedMs = 0;
  #lastId = 0;
  readonly #timers = new Map<number, { dueAt: number; fire: () => void }>();

  now(): number {
    return systemClock.now() + this.#skippedMs;
  }

  setTimeout(fire: () => void, ms: number): number {
    this.#lastId += 1;
    this.#timers.set(this.#lastId, { dueAt: this.now() + ms, fire });
    return this.#lastId;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as number);
  }

  skip(ms: number): void {
    this.#skippedMs += ms;
    const due = [...this.#timers].filter(([, { dueAt }]) => dueAt <= this.now());
    for (const [id, { fire }] of due.sort(([, a], [, b]) => a.dueAt - b.dueAt)) {
      if (this.#timers.delete(id)) fire();
    }
  }
}

export interface RealProcess {
  name: string;
  incarnation: number;
  pid: number | undefined;
  link: Link;
  isOpened: boolean;
  isEnded: boolean;
}

let worlds = 0;

export class RealWorld {
  readonly clock = new SkippingClock();
  readonly processes: RealProcess[] = [];
  readonly table = new ProcessTable({ daemonId: `real-${process.pid}-${worlds++}`, clock: systemClock });
  readonly folder = makeFolder();
  readonly notes = join(this.folder, 'notes');
  readonly #words = join(this.folder, 'words');
  readonly #pipe: number;
  readonly #most: number;
  readonly #broken: string[] = [];

  /** `most`: how many processes of one server may live at once. */
  constructor(most = 1) {
    this.#most = most;
    execFileSync('mkfifo', [this.#words]);
    // open for both, so that a word waits in it until a process takes it
    this.#pipe = openSync(this.#words, constants.O_RDWR | constants.O_NONBLOCK);
    onTestFinished(async () => {
      await this.table.killAll();
      closeSync(this.#pipe);
    });
  }

  /** A server in a shell. `words` are taken from the pipe, or it shakes hands at once. */
  spec(
    behaviour: 'kind' | 'held' | 'stubborn',
    changes: Partial<StdioSpec> = {},
    lists: 'held' | 'free' = 'free',
  ): StdioSpec {
    const script = join(import.meta.dirname, 'real-server.sh');
    const words = behaviour === 'kind' ? 'open' : this.#words;
    return specOf('real', {
      command: '/bin/sh',
      args: [script, behaviour, words, this.notes, lists],
      cwd: this.folder,
      tools: { allow: ['*'], deny: [] },
      startTimeoutMs: 60_000,
      stop: { closeMs: 60_000, termMs: 60_000 },
      ping: { intervalMs: 0, timeoutMs: 0 },
      ...changes,
    });
  }

  /** The process that waits for one gets this word. */
  say(word: 'open' | 'refuse' | 'changed' | 'go' | 'exit'): void {
    writeSync(this.#pipe, `${word}\n`);
  }

  readonly open: OpenLink = (spec, incarnation, on) => {
    const others = this.processes.filter(
      ({ name, pid }) => name === spec.name && pid !== undefined && alive(pid),
    );
    if (others.length >= this.#most) {
      this.#broken.push(`I1: ${incarnation} was opened beside ${others.map(({ pid }) => pid)}`);
    }
    const one: Omit<RealProcess, 'link'> = {
      name: spec.name,
      incarnation,
      pid: undefined,
      isOpened: false,
      isEnded: false,
    };
    const link = openLink(
      spec,
      {
        clock: systemClock,
        table: this.table,
        env: process.env,
        clientInfo: { name: 'toolherd', version: '0.0.0' },
        log: () => undefined,
        redact: (text) => text,
        incarnation,
        // what is walked here are the machines' edges; how an era is found out has other tests
        era: remembering('mcp2025'),
      },
      {
        opened: (opened) => {
          whole.isOpened = true;
          on.opened(opened);
        },
        notification: on.notification,
        ended: (ending) => {
          whole.isEnded = true;
          on.ended(ending);
        },
      },
    );
    const whole = Object.assign(one, { link, pid: link.pids[0] });
    this.processes.push(whole);
    return link;
  };

  get newest(): RealProcess | undefined {
    return this.processes.at(-1);
  }

  get alive(): RealProcess[] {
    return this.processes.filter(({ pid }) => pid !== undefined && alive(pid));
  }

  /** Every call that a process got: which process, and the mark of the call. */
  get noted(): { pid: number; mark: string }[] {
    const lines = readLines(this.notes).map((line) => line.split(' '));
    return lines.map(([pid, mark = '']) => ({ pid: Number(pid), mark }));
  }

  /** I1, I5, I10: throws where the system's truth is not as it should be. */
  check(): void {
    if (this.#broken.length > 0) throw new Error(this.#broken.join('\n'));
    for (const { pid, isEnded, incarnation } of this.processes) {
      if (isEnded && pid !== undefined && alive(pid))
        throw new Error(`I5: ${incarnation} has ended, but ${pid} lives`);
    }
    const marks = this.noted.map(({ mark }) => mark);
    if (new Set(marks).size < marks.length) throw new Error(`I10: written twice: ${marks.join()}`);
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
