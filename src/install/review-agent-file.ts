import { createHash } from 'node:crypto';
import { planAgentFile } from '../config/load.js';
import { configError, type Problem } from '../config/parse/problem.js';
import {
  type AllowedFile,
  recordOf,
  type TrustCheck,
  TrustStore,
  type WouldRun,
  wouldRunAll,
} from '../config/trust/trust.js';
import type { Profile } from '../shared/mcp/profile.js';
import type { InstallContext } from './context.js';
import { loadOptions } from './load-options.js';

/** What a person reads before allowing a file. */
export interface ReviewedFile {
  file: string;
  trust: TrustCheck;
  wouldRun: WouldRun[];
  profiles: readonly Profile[];
  /** What `allow` would record. */
  record: AllowedFile;
}

/** Of an envFile only the names are used: they are shown, and the record has them. */
export async function reviewAgentFile(context: InstallContext, file: string): Promise<ReviewedFile> {
  const agent = planAgentFile(loadOptions(context, file));
  if (agent === undefined) throw new Error(`${file} was not read`);
  const { text, planned, profiles } = agent;
  const problems: Problem[] = [];
  const record = await recordOf(text, planned, (problem) => void problems.push(problem));
  if (problems.length > 0) throw configError(problems);
  const trust = await new TrustStore(context.paths.trustFile).check(file, text, planned);
  return { file, trust, wouldRun: wouldRunAll(planned, record.envNames), profiles, record };
}

/** Changes with everything that `allow` would record. */
export function digestOf({ record }: ReviewedFile): string {
  return createHash('sha256').update(JSON.stringify(record)).digest('hex');
}
