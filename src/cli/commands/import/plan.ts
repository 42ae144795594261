import { isDeepStrictEqual } from 'node:util';
import { BUILT_IN_COMMANDS } from '../../../config/fields/entry-fields.js';
import { eachString } from '../../../config/parse/document.js';
import { parseReferences } from '../../../config/variables/variables.js';
import { type FoundServer, isOurBridge } from '../../../integrations/index.js';
import type { Environment } from '../../../shared/environment.js';
import { shellWord } from '../../../shared/text/shell-word.js';

/** A variable that is not set, and where its value is, if that is known. */
export interface Unset {
  name: string;
  from: string | undefined;
}

/** One server that was found, and what import does with it. */
export interface Planned {
  found: FoundServer;
  entry: Record<string, unknown> & { name: string };
  unset: Unset[];
  /** A command that is not allowed yet. */
  command: string | undefined;
  result: 'new' | 'added' | 'skipped' | 'failed';
  why: string | undefined;
}

interface PlanContext {
  allowedCommands: readonly string[];
  environment: Environment;
  /** Another name, if only one server is imported. */
  name: string | undefined;
}

/** What import does with each server. Of two with the same name it takes the first. */
export function planImport(
  servers: readonly FoundServer[],
  { allowedCommands, environment, name }: PlanContext,
): Planned[] {
  const plan: Planned[] = [];
  for (const found of servers) {
    const unset = unsetIn(found, environment);
    const { command } = found.entry;
    const isAllowed =
      typeof command !== 'string' || [...BUILT_IN_COMMANDS, ...allowedCommands].includes(command);
    const why = reasonAgainst(found, plan);
    plan.push({
      found,
      entry: {
        ...found.entry,
        name: name ?? found.name,
        // with a variable that is not set an agent.yaml cannot be loaded, and a server of the global config cannot run
        ...(unset.length === 0 ? {} : { enabled: false }),
      },
      unset,
      command: isAllowed ? undefined : command,
      result: why === undefined ? 'new' : 'skipped',
      why,
    });
  }
  return plan;
}

function reasonAgainst(found: FoundServer, plan: readonly Planned[]): string | undefined {
  if (isOurBridge(found)) return 'it is this herd';
  if (found.refusal !== undefined) return found.refusal;
  const namesake = plan.find((other) => other.found.name === found.name && other.result === 'new');
  if (namesake === undefined) return undefined;
  const origin = namesake.found.client;
  if (isSame(namesake.found.entry, found.entry)) return `the same as from ${origin.name}`;
  const other = `toolherd import ${shellWord(found.name)} --from ${found.client.name} --name OTHER`;
  return `the name is that of a server of ${origin.name}; take it with: ${other}`;
}

function isSame(one: Record<string, unknown>, two: Record<string, unknown>): boolean {
  const { description: _, ...first } = one;
  const { description: __, ...second } = two;
  return isDeepStrictEqual(first, second);
}

function unsetIn({ entry, secrets, file, path }: FoundServer, environment: Environment): Unset[] {
  const names = new Set<string>();
  eachString(entry, [], (text) => {
    for (const part of parseReferences(text)) {
      if (part.kind === 'variable' && part.fallback === undefined) names.add(part.name);
    }
  });
  return [...names]
    .filter((name) => environment[name] === undefined)
    .map((name) => {
      const secret = secrets.find(({ variable }) => variable === name);
      return { name, from: secret === undefined ? undefined : `${file}, ${path}, ${secret.at}` };
    });
}
