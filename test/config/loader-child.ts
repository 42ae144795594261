import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';

export interface Answer {
  /** The number of servers, or the error, or any other output. */
  servers?: number;
  message?: string;
  crash?: string;
  ms: number;
}

/** The loader in a child process: a hostile file could abort the process. */
export class LoaderChild {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #answers: AsyncIterator<string>;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    this.#answers = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  }

  static async start(): Promise<LoaderChild> {
    const folder = await mkdtemp(join(tmpdir(), 'toolherd-loader-'));
    const outfile = join(folder, 'loader.cjs');
    const entryPoints = [join(import.meta.dirname, 'loader-program.ts')];
    await build({ entryPoints, outfile, bundle: true, platform: 'node', mainFields: ['module', 'main'] });
    const child = spawn(process.execPath, [outfile], { stdio: ['pipe', 'pipe', 'inherit'] });
    return new LoaderChild(child, folder);
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async load(agentFile: string): Promise<Answer> {
    this.#child.stdin?.write(`${agentFile}\n`);
    const { value, done } = await this.#answers.next();
    if (done === true)
      throw new Error(`the process is gone: ${this.#child.signalCode ?? this.#child.exitCode}`);
    return JSON.parse(value) as Answer;
  }

  /** Ends its stdin and returns how it exited; a process that hangs is killed. */
  async stop(): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => {
      if (!this.isAlive) resolve(this.#child.exitCode);
      this.#child.once('exit', resolve);
    });
    this.#child.stdin?.end();
    const killing = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    const code = await ended;
    clearTimeout(killing);
    await rm(this.#folder, { recursive: true, force: true });
    return code;
  }
}
