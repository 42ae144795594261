import { EXIT } from '../../../shared/report/exit-codes.js';
import { defineCommand } from '../../core/command.js';
import { socketOf } from '../../daemon/connect.js';
import { paintLevels } from '../../ui/colors.js';
import { quoted, singleLine } from '../../ui/text.js';
import { checkClients } from './doctor/clients.js';
import { checkCluster } from './doctor/cluster.js';
import { checkConfig } from './doctor/config.js';
import { checkDaemon } from './doctor/daemon.js';
import type { Finding } from './doctor/finding.js';
import { checkDisk, checkFolders, checkLogs, checkPackages, checkSocketPlace } from './doctor/folders.js';
import { checkHerds } from './doctor/herds.js';
import { checkNode, checkPrograms } from './doctor/programs.js';

export const command = defineCommand({
  name: 'doctor',
  summary: 'Checks everything that toolherd needs, and says how to fix what is wrong.',
  details: `It checks Node, PATH, npx, uvx and docker, the socket, the folders and their
permissions, the daemon, the config, trust, other herds, the NATS server of the
cluster, the entries of attached clients, what their lists of tools cost, and
processes of a dead daemon.
It starts and changes nothing.`,
  examples: [
    'toolherd doctor',
    ['toolherd doctor -q', 'only problems'],
    `toolherd doctor --json | jq '.findings[] | select(.level == "error")'`,
  ],
  exits: { ok: 'no errors; there may be warnings', failed: 'there are errors' },
  ownTimeout: true,
  async run(context) {
    const { output } = context;
    const socket = socketOf(context);
    const { findings: config, commands, herds, cluster } = await checkConfig(context);
    const { findings: daemon, status } = await checkDaemon(context, socket, config);
    const findings = [
      checkNode(process.version),
      ...checkPrograms(context, commands),
      checkSocketPlace(socket),
      ...checkFolders(context),
      ...daemon,
      ...config,
      ...(await checkHerds(context, herds, status)),
      ...(await checkCluster(cluster, status)),
      ...(await checkClients(context, status)),
      checkDisk(context),
      checkLogs(context),
      checkPackages(context),
    ];
    const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
    const [errors, warnings] = [count('error'), count('warn')];
    output.json({ ok: errors === 0, errors, warnings, findings });
    for (const finding of findings)
      if (!output.isQuiet || finding.level !== 'ok') output.print(lineOf(finding), paintLevels);
    output.note(
      errors + warnings === 0
        ? 'no problems found'
        : `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`,
    );
    return errors === 0 ? EXIT.ok : EXIT.failed;
  },
});

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function lineOf({ about, level, message, why, fix }: Finding): string {
  return [
    `${level.padEnd(5)}  ${about.padEnd(9)}  ${singleLine(message)}`,
    ...(why === undefined ? [] : [`       why: ${quoted(why, '         ')}`]),
    ...(fix === undefined ? [] : [`       fix: ${singleLine(fix)}`]),
  ].join('\n');
}
