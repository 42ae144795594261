import { AgentFileNotAllowedError } from '../config/trust/trust.js';
import type { FleetProvider } from '../ipc/server/fleet-provider.js';

const MOST = 32;

/** The agent files that clients of the socket named lately and that the user has not allowed: the page asks about them. */
export class RefusedFiles {
  readonly #files = new Set<string>();

  /** The newest last. A file may have been allowed since. */
  get files(): readonly string[] {
    return [...this.#files];
  }

  /** A provider that notes what it refuses. */
  watch({ global, ofAgent }: FleetProvider): FleetProvider {
    return {
      global,
      ofAgent: (...asked) =>
        ofAgent(...asked).catch((error: unknown) => {
          if (error instanceof AgentFileNotAllowedError) this.#add(error.file);
          throw error;
        }),
    };
  }

  #add(file: string): void {
    this.#files.delete(file);
    this.#files.add(file);
    const [oldest] = this.#files;
    if (this.#files.size > MOST && oldest !== undefined) this.#files.delete(oldest);
  }
}
