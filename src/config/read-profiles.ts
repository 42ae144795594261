import type { JsonObject } from '../shared/json.js';
import { ownerFilter, type Profile, serverFilter, toolFilter, toolKey } from '../shared/mcp/profile.js';
import { DEFAULT_SEPARATOR, HERD_SEPARATOR, publicNamePrefix } from '../shared/mcp/separators.js';
import { isOwnName } from '../shared/mcp/surface.js';
import { nameFilter } from '../shared/text/glob.js';
import { valueOr } from './fields/defaults.js';
import type { Report } from './fields/parsed-entry.js';
import { PROFILE_FIELDS, PROFILE_NAME, profileShape } from './fields/profile.js';
import { quoteName, shapeProblems } from './fields/shape-problems.js';
import { readSurface } from './fields/surface.js';
import { type Data, type DataMap, isMap, type SourceDocument } from './parse/document.js';

/** The profiles of one file. */
export interface FileProfiles {
  document: SourceDocument;
  profiles: Profile[];
}

type Path = (string | number)[];

const KEYED_BY_TOOL = ['rename', 'describe', 'defaults'] as const;

/** Reads `profiles:` of either file. Whether its names fit the servers is checked later: an agent file adds servers. */
export function readProfiles(document: SourceDocument, top: DataMap, report: Report): FileProfiles {
  const value = top.profiles ?? null;
  if (value === null) return { document, profiles: [] };
  if (!isMap(value)) {
    const fix = "write 'profiles: {NAME: {servers: […], tools: […]}}'";
    report(document.problem('ConfigError', ['profiles'], "'profiles' must be a map", fix));
    return { document, profiles: [] };
  }
  const profiles = Object.entries(value).flatMap(
    ([name, one]) => readProfile(document, name, one, report) ?? [],
  );
  return { document, profiles };
}

function readProfile(
  document: SourceDocument,
  name: string,
  value: Data,
  report: Report,
): Profile | undefined {
  const path = ['profiles', name];
  if (!PROFILE_NAME.test(name)) {
    const message = `${quoteName(name)} cannot be the name of a profile`;
    const fix = 'use at most 64 letters, digits, _, - and dots, and begin with a letter or digit';
    report(document.problem('ConfigError', path, message, fix, 'key'));
    return undefined;
  }
  const found = shapeProblems(document, value ?? Object.create(null), {
    type: 'ConfigError',
    schema: profileShape(),
    path,
    known: Object.keys(PROFILE_FIELDS),
    about: (field) => (isProfileField(field) ? PROFILE_FIELDS[field].about : undefined),
  });
  for (const { problem } of found) report(problem);
  if (found.length > 0) return undefined;
  const fields: DataMap = isMap(value) ? value : {};
  const profile: Profile = {
    name,
    file: document.file,
    description: valueOr<string | undefined>(fields.description, undefined),
    servers: valueOr<string[] | undefined>(fields.servers, undefined),
    tools: valueOr(fields.tools, [...PROFILE_FIELDS.tools.default]),
    rename: valueOr<Record<string, string>>(fields.rename, {}),
    describe: valueOr<Record<string, string>>(fields.describe, {}),
    defaults: valueOr<Record<string, JsonObject>>(fields.defaults, {}),
    surface: readSurface(valueOr<DataMap>(fields.surface, {})),
  };
  const isSound = [checkKeys(document, profile, report), checkRenames(document, profile, report)];
  return isSound.every(Boolean) ? profile : undefined;
}

function isProfileField(name: string): name is keyof typeof PROFILE_FIELDS {
  return Object.hasOwn(PROFILE_FIELDS, name);
}

/** False where a key is not `server.tool`. */
function checkKeys(document: SourceDocument, profile: Profile, report: Report): boolean {
  let isSound = true;
  for (const field of KEYED_BY_TOOL) {
    for (const key of Object.keys(profile[field])) {
      if (/^.+\..+$/s.test(key)) continue;
      isSound = false;
      const message = `${quoteName(key)} in '${field}' is not server.tool`;
      const fix = 'write the name of the server, a dot, and the name of the tool';
      report(document.problem('ConfigError', ['profiles', profile.name, field, key], message, fix, 'key'));
    }
  }
  return isSound;
}

/** False where two tools have one name, or one has the name of a tool of toolherd. */
function checkRenames(document: SourceDocument, { name, rename }: Profile, report: Report): boolean {
  const byName = new Map<string, string>();
  let isSound = true;
  for (const [key, publicName] of Object.entries(rename)) {
    const refuse = (message: string, fix: string) => {
      isSound = false;
      report(document.problem('ConfigError', ['profiles', name, 'rename', key], message, fix));
    };
    if (isOwnName(publicName))
      refuse(`${quoteName(publicName)} is a tool of toolherd in search mode`, 'choose another name');
    const other = byName.get(publicName);
    byName.set(publicName, key);
    if (other === undefined) continue;
    refuse(
      `${quoteName(other)} and ${quoteName(key)} would both be called ${quoteName(publicName)}`,
      'give each its own name',
    );
  }
  return isSound;
}

/**
 * Compares profiles with the servers that they can have. A rename that the tools of a server may have is a problem; a
 * glob or a key that fits no server is a warning, since a server may be registered later.
 */
export function checkProfiles(
  { document, profiles }: FileProfiles,
  servers: readonly string[],
  report: Report,
  warn: Report,
  herds: readonly string[] = [],
): void {
  for (const profile of profiles) {
    const { name, rename, servers: globs = [], tools, surface } = profile;
    for (const [key, publicName] of Object.entries(rename)) {
      const owner = servers.find((server) =>
        publicName.startsWith(publicNamePrefix(server, DEFAULT_SEPARATOR)),
      );
      if (owner === undefined) continue;
      const message = `${quoteName(publicName)} begins like the tools of ${quoteName(owner)}, which may have one of this name`;
      const path = ['profiles', name, 'rename', key];
      report(document.problem('ConfigError', path, message, 'choose a name that begins otherwise'));
    }
    const warnAbout = (pattern: string, path: Path, why: string, what: 'key' | 'value' = 'value') => {
      // the servers of another herd are known when it is connected
      if (herds.some((herd) => pattern.startsWith(`${herd}${HERD_SEPARATOR}`))) return;
      const message = `${quoteName(pattern)} ${why}`;
      const fix = 'correct it, or remove it; see: toolherd list';
      warn(document.problem('ConfigError', ['profiles', name, ...path], message, fix, what));
    };
    for (const [index, glob] of globs.entries())
      if (!servers.some(nameFilter([glob]))) warnAbout(glob, ['servers', index], 'matches no server');
    const own = servers.filter(serverFilter(profile));
    const warnAboutTools = (path: Path, patterns: readonly string[]) => {
      for (const [index, glob] of patterns.entries())
        if (!own.some(ownerFilter([glob])))
          warnAbout(glob, [...path, index], "matches no tool of the profile's servers");
    };
    warnAboutTools(['tools'], tools);
    warnAboutTools(['surface', 'always'], surface.always ?? []);
    const isTool = toolFilter(tools);
    for (const field of KEYED_BY_TOOL) {
      for (const key of Object.keys(profile[field])) {
        const owners = own.filter((server) => key.startsWith(toolKey(server, '')));
        if (owners.some((server) => isTool(server, key.slice(toolKey(server, '').length)))) continue;
        warnAbout(key, [field, key], `in '${field}' is no tool of the profile`, 'key');
      }
    }
  }
}
