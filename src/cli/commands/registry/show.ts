import {
  type InstallOption,
  installOptions,
  isInstallable,
  type RegistryServer,
  type UnsupportedOption,
} from '../../../registry/index.js';
import { shellWord } from '../../../shared/shell-word.js';
import { type Command, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { singleLine } from '../../ui/text.js';
import { noteOffline, parseName, registryOf } from './lookup.js';
import { findServer } from './registry-server.js';
import { formatRequirement, requirementJson } from './requirements.js';

export const verb: Command = {
  usage: 'show NAME[@VERSION]',
  about: 'Shows a server of the registry: what it is, how it would be run or reached, and what it needs.',
  help: `Examples:
  toolherd show io.github.upstash/context7
  toolherd show io.github.upstash/context7@1.0.31 --json

Exit status: 0 ok, 4 no such server or version, 69 the registry cannot be reached, 124 --timeout.`,
  options: {},
  most: 1,
  async run(call) {
    const [given] = call.args;
    if (given === undefined) throw new UsageError('name a server', 'see "toolherd search"');
    const { name, version } = parseName(given);
    const found = await findServer(registryOf(call), name, version);
    noteOffline(call, found);
    const { server, cachedAt } = found;
    const ways = installOptions(server);
    call.output.json({
      server: { ...aboutJson(server), ways: ways.map(wayJson) },
      cached_at: cachedAt ?? null,
    });
    call.output.print([...aboutLines(server), ...ways.flatMap(wayLines)].join('\n'));
    if (server.status !== 'deleted' && ways.some(isInstallable)) {
      call.output.note(
        `add it: toolherd add ${shellWord(version === undefined ? server.name : `${server.name}@${version}`)}`,
      );
    }
    return EXIT.ok;
  },
};

function aboutLines(server: RegistryServer): string[] {
  const { name, version, title, description, status, statusMessage, publishedAt, updatedAt } = server;
  const rows: [string, string | undefined][] = [
    ['title', title],
    ['about', description === '' ? undefined : description],
    ['status', statusMessage === undefined ? status : `${status}: ${statusMessage}`],
    ['published', publishedAt],
    ['updated', updatedAt],
    ['repository', server.repository],
    ['website', server.website],
  ];
  return [
    singleLine(`${name} ${version}`),
    ...rows.flatMap(([label, value]) =>
      value === undefined ? [] : [`  ${label.padEnd(10)}  ${singleLine(value)}`],
    ),
  ];
}

function wayLines(way: InstallOption | UnsupportedOption): string[] {
  if (!isInstallable(way))
    return [
      '',
      singleLine(`  ${way.kind} ${way.server}`.trimEnd()),
      `    refused     ${singleLine(way.refused)}`,
    ];
  const { command, args = [], url, headers = {} } = way.fields;
  const how = url === undefined ? ['runs', [command, ...args].join(' ')] : ['connects to', url];
  return [
    '',
    singleLine(`  ${way.kind} ${way.server}`),
    `    ${how[0]!.padEnd(11)} ${singleLine(how[1]!)}`,
    ...Object.entries(headers).map(
      ([name, value]) => `    ${'sends'.padEnd(11)} ${singleLine(`${name}: ${value}`)}`,
    ),
    ...way.needs.map(
      (need) =>
        `    ${(need.isOptional ? 'may have' : 'needs').padEnd(11)} ${singleLine(formatRequirement(need))}`,
    ),
  ];
}

function aboutJson(server: RegistryServer): Record<string, unknown> {
  const { name, title, description, version, status, publishedAt, updatedAt, repository, website } = server;
  return {
    name,
    title: title ?? null,
    description,
    version,
    status,
    published_at: publishedAt ?? null,
    updated_at: updatedAt ?? null,
    repository: repository ?? null,
    website: website ?? null,
  };
}

function wayJson(way: InstallOption | UnsupportedOption): Record<string, unknown> {
  if (!isInstallable(way)) return { by: way.kind, server: way.server, refused: way.refused };
  const { kind, server, transport, fields, needs } = way;
  return { by: kind, server, transport, ...fields, needs: needs.map(requirementJson) };
}
