import type { Loaded } from '../config/load.js';
import type { ReloadReport } from '../fleet/fleet.js';
import { serialize } from '../shared/async.js';
import { messageOf } from '../shared/errors.js';
import { type ConfigSource, rereadHerdConfig } from './config-source.js';

export interface ConfigReloaderOptions {
  source: ConfigSource;
  /** Applies a config that was read without errors. A dry run only reports what would change. */
  apply(loaded: Loaded, isDryRun: boolean): ReloadReport;
  /** Runs after a config was applied, and is part of the reload. */
  applied(report: ReloadReport): Promise<void>;
  /** A changed file could not be applied. */
  onFailure(message: string): void;
}

/** Reads the config again and applies it, one reload at a time. A config with errors changes nothing. */
export class ConfigReloader {
  readonly #options: ConfigReloaderOptions;
  readonly #serialized = serialize();
  #error: string | null = null;

  constructor(options: ConfigReloaderOptions) {
    this.#options = options;
  }

  /** Why the changed file was not applied, for `status`; null where the herd runs on what the file says. */
  get error(): string | null {
    return this.#error;
  }

  /** `fleet/reload`. Rejects where the config cannot be read. */
  reload(isDryRun = false): Promise<ReloadReport> {
    return this.#serialized(() => this.#reload(isDryRun));
  }

  /** The file has changed. Never rejects: an error is kept for `status`. */
  async reloadChanged(): Promise<void> {
    try {
      await this.reload();
    } catch (error) {
      this.#error = messageOf(error);
      this.#options.onFailure(this.#error);
    }
  }

  async #reload(isDryRun: boolean): Promise<ReloadReport> {
    const { source, apply, applied } = this.#options;
    const report = apply(await rereadHerdConfig(source), isDryRun);
    if (isDryRun) return report;
    this.#error = null;
    await applied(report);
    return report;
  }
}
