import { CLUSTER_FIELDS, clusterShape, credentialsShape } from './fields/cluster.js';
import type { Report } from './fields/parsed-entry.js';
import { shapeProblems } from './fields/shape-problems.js';
import { type DataMap, isMap, type SourceDocument } from './parse/document.js';
import type { Path } from './parse/problem.js';

const PATH: Path = ['cluster'];

/** `cluster:` of config.yaml with the right shape, as written. Its variables are filled in by `resolveCluster`. */
export function readCluster(document: SourceDocument, top: DataMap, report: Report): DataMap | undefined {
  const given = top.cluster ?? null;
  if (given === null) return undefined;
  const about = (field: string) => (isClusterField(field) ? CLUSTER_FIELDS[field].about : undefined);
  const known = Object.keys(CLUSTER_FIELDS);
  const found = shapeProblems(document, withoutMap(given), {
    ...{ type: 'ConfigError', schema: clusterShape(), path: PATH, known, about },
  });
  for (const { problem } of found) report(problem);
  if (!isMap(given)) return undefined;
  const areCredentialsGood = checkCredentials(document, given, report);
  return found.length === 0 && areCredentialsGood ? given : undefined;
}

/** An agent file comes with a project, which must not open connections to other machines. */
export function refuseCluster(document: SourceDocument, report: Report): void {
  if (!isMap(document.value) || !isMap(document.value.cluster)) return;
  const message = "'cluster' does not belong in an agent file: a project must not open connections of yours";
  const fix = 'move it to your config.yaml; "toolherd validate" prints its path';
  report(document.problem('ConfigError', PATH, message, fix, 'key'));
}

function isClusterField(name: string): name is keyof typeof CLUSTER_FIELDS {
  return Object.hasOwn(CLUSTER_FIELDS, name);
}

/** Credentials that are a map are checked apart: a union of shapes knows no near misses. */
function withoutMap<T>(given: T): T | DataMap {
  return isMap(given) && isMap(given.credentials) ? { ...given, credentials: null } : given;
}

function checkCredentials(document: SourceDocument, { credentials }: DataMap, report: Report): boolean {
  if (!isMap(credentials)) return true;
  const path = [...PATH, 'credentials'];
  const schema = credentialsShape();
  const known = ['user', 'password', 'token', 'nkey'];
  const about = () => CLUSTER_FIELDS.credentials.about;
  const found = shapeProblems(document, credentials, { type: 'ConfigError', schema, path, known, about });
  for (const { problem } of found) report(problem);
  if (found.length > 0) return false;
  const given = known.filter((name) => (credentials[name] ?? null) !== null).join(' ');
  if (['user password', 'token', 'nkey'].includes(given)) return true;
  const message =
    "'credentials' must be one of: the path of a .creds file, {user, password}, {token}, {nkey}";
  report(document.problem('ConfigError', path, message, 'keep what your NATS server asks for'));
  return false;
}
