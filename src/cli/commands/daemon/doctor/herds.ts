import type { HerdSpec } from '../../../../config/fields/spec.js';
import type { FleetStatus } from '../../../../fleet/fleet.js';
import { look } from '../../../../ipc/socket/socket-path.js';
import { shellWord } from '../../../../shared/text/shell-word.js';
import { VERSION } from '../../../../shared/version.js';
import type { CommandContext } from '../../../core/command.js';
import { runProgram } from '../../../core/run-program.js';
import { error, type Finding, ok, warn } from './finding.js';

/** How long ssh may take to connect. */
const CONNECT_SECONDS = 5;

/** Whether the other herds can be reached, and their versions. A daemon that runs knows; else ssh is asked. */
export async function checkHerds(
  context: CommandContext,
  herds: readonly HerdSpec[],
  status: FleetStatus | undefined,
): Promise<Finding[]> {
  const found = await Promise.all(
    herds.map((herd) =>
      status === undefined ? checkWay(context, herd) : [connectionOf(herd, status)].flat(),
    ),
  );
  return found.flat();
}

/** A connection that failed is among the servers in trouble already. */
function connectionOf({ name, address }: HerdSpec, { servers }: FleetStatus): Finding | [] {
  const connection = servers.find((server) => server.name === name);
  if (connection?.state !== 'connected') return [];
  const version = String(connection.server_info?.version);
  const about = `${name} (${address}): connected, toolherd ${version}`;
  if (version === VERSION) return ok('herd', about);
  return warn('herd', `${about}, this one is ${VERSION}`, 'install the same version on both machines');
}

async function checkWay({ environment }: CommandContext, herd: HerdSpec): Promise<Finding[]> {
  const { name, transport, address, command } = herd;
  if (transport === 'socket') {
    if (look(address)?.isSocket()) return [ok('herd', `${name}: ${address}`)];
    return [
      error('herd', `${name}: no socket is at ${address}`, 'start the daemon of that herd with: toolherd up'),
    ];
  }
  const options = ['-T', '-o', 'BatchMode=yes', '-o', `ConnectTimeout=${CONNECT_SECONDS}`];
  const { status, stderr } = await runProgram(
    ['ssh', ...options, '--', address, `${command} version`],
    environment,
  );
  if (status === 0) return [ok('herd', `${name}: ssh reaches toolherd on ${address}`)];
  const by = `ssh -o BatchMode=yes ${shellWord(address)} ${command} version`;
  const finding = error(
    'herd',
    `${name}: ssh does not reach toolherd on ${address}`,
    `make this work: ${by}`,
  );
  return [stderr === '' ? finding : { ...finding, why: stderr }];
}
