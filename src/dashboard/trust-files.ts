import { TrustStore } from '../config/trust/trust.js';
import { trustedPath } from '../config/trust/trusted-path.js';
import type { TrustedFile } from '../fleet/ui.js';
import type { InstallContext } from '../install/context.js';
import { digestOf, type ReviewedFile, reviewAgentFile } from '../install/review-agent-file.js';
import { describeProfiles, describeWouldRun, wouldRunJson } from '../install/would-run.js';
import { messageOf, ToolherdError } from '../shared/errors.js';
import type { PageHerd } from './page-methods.js';

const STATUS = { allowed: 'allowed', never: 'not allowed', changed: 'changed' } as const;

/** The files that the user allowed, and those that clients asked for in vain. */
export async function listFiles(herd: PageHerd, context: InstallContext): Promise<TrustedFile[]> {
  const files = knownFiles(herd);
  return Promise.all(files.map((file) => describeFile(context, file)));
}

export async function allowFile(
  herd: PageHerd,
  context: InstallContext,
  { file, digest }: { file: string; digest: string },
): Promise<Record<string, unknown>> {
  checkKnown(herd, file);
  const review = await reviewAgentFile(context, file);
  if (digestOf(review) !== digest) {
    throw new ToolherdError(`${file} has changed since this page showed it`, {
      why: 'you would allow what you have not read',
      fix: 'read it again, then allow it',
    });
  }
  await new TrustStore(herd.paths.trustFile).allow(file, review.record);
  await reload(herd, context);
  return { ok: true, file, would_run: wouldRunJson(review.wouldRun) };
}

export async function revokeFile(
  herd: PageHerd,
  context: InstallContext,
  file: string,
): Promise<Record<string, unknown>> {
  const wasAllowed = await new TrustStore(herd.paths.trustFile).revoke(file);
  if (wasAllowed) await reload(herd, context);
  return { ok: true, file, was_allowed: wasAllowed };
}

/** The servers of other files are not at fault where the global config is wrong. */
async function reload({ fleet }: PageHerd, { output }: InstallContext): Promise<void> {
  await fleet.reload().catch((error: unknown) => {
    output.note(`warning: the daemon does not know of it yet: ${messageOf(error)}`);
  });
}

function knownFiles({ paths, refusedFiles }: PageHerd): string[] {
  const allowed = new TrustStore(paths.trustFile).files();
  return [...new Set([...refusedFiles().map(trustedPath), ...allowed])];
}

/** The page cannot make the daemon read any file of the user. */
function checkKnown(herd: PageHerd, file: string): void {
  if (knownFiles(herd).includes(trustedPath(file))) return;
  throw new ToolherdError(`no client has asked for ${file}`, { fix: 'use: toolherd allow' });
}

async function describeFile(context: InstallContext, file: string): Promise<TrustedFile> {
  try {
    return shown(await reviewAgentFile(context, file));
  } catch (error) {
    if (!(error instanceof ToolherdError)) throw error;
    const problem = [error.message, error.why].filter(Boolean).join(': ');
    return { file, status: 'unreadable', digest: null, problem, servers: [], would_run: [] };
  }
}

function shown(review: ReviewedFile): TrustedFile {
  const { file, trust, wouldRun, profiles } = review;
  const words = [describeWouldRun(file, wouldRun), describeProfiles(profiles)].filter(Boolean).join('\n');
  return {
    file,
    status: STATUS[trust],
    digest: digestOf(review),
    problem: null,
    servers: wouldRunJson(wouldRun),
    would_run: words.split('\n'),
  };
}
