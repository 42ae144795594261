import { findServer, noteOffline, parseName, registryOf } from '../../../install/find-server.js';
import { formatRequirement, showJson } from '../../../install/registry-format.js';
import {
  type InstallOption,
  installOptions,
  isInstallable,
  type RegistryServer,
  type UnsupportedOption,
} from '../../../registry/index.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { defineCommand } from '../../core/command.js';
import { singleLine } from '../../ui/text.js';

export const command = defineCommand({
  name: 'show',
  summary: 'Shows a server of the registry, how to run or reach it, and what it needs.',
  args: { name: { label: 'NAME[@VERSION]', noun: 'server', hint: 'see "toolherd search"' } },
  examples: [
    'toolherd show io.github.upstash/context7',
    'toolherd show io.github.upstash/context7@1.0.31 --json',
  ],
  exits: {
    ok: 'ok',
    notFound: 'no such server or version',
    cannotReach: 'the registry cannot be reached',
  },
  ownTimeout: true,
  async run(context) {
    const { name, version } = parseName(context.args.name);
    const found = await findServer(registryOf(context), name, version);
    noteOffline(context, found);
    const { server } = found;
    const ways = installOptions(server);
    context.output.json(showJson(found));
    context.output.print([...aboutLines(server), ...ways.flatMap(wayLines)].join('\n'));
    if (server.status !== 'deleted' && ways.some(isInstallable)) {
      context.output.note(
        `add it: toolherd add ${shellWord(version === undefined ? server.name : `${server.name}@${version}`)}`,
      );
    }
    return EXIT.ok;
  },
});

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
