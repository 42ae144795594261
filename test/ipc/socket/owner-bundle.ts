import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

export interface Answer {
  won?: boolean;
  type?: string;
  pid?: number;
  message?: string;
}

/** Builds owner-process.ts once for a test file; answers with the way to start it. */
export function useOwnerProcesses(): () => OwnerProcess {
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolherd-owner-'));
    await build({
      entryPoints: [join(import.meta.dirname, 'owner-process.ts')],
      outfile: join(folder, 'owner.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'warning',
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => new OwnerProcess(join(folder, 'owner.mjs'));
}

export class OwnerProcess {
  readonly child: ChildProcess;
  readonly #answers: Answer[] = [];
  #wake: () => void = () => undefined;

  constructor(script: string) {
    const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.child = child;
    createInterface(child.stdout).on('line', (line) => {
      this.#answers.push(JSON.parse(line) as Answer);
      this.#wake();
    });
    onTestFinished(async () => this.kill());
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  order(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  async answer(): Promise<Answer> {
    while (this.#answers.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#answers.shift() ?? {};
  }

  async ask(line: string): Promise<Answer> {
    this.order(line);
    return this.answer();
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
  }
}
