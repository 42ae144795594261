import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixturePath } from '../../../faults/config.js';
import { prepareRegistry } from '../../../registry/command.js';

const MINE = `# mine, and \${X}
version: "1.0"
mcp_servers:
  - {name: a, description: d, server: s, command: npx, args: [x]} # kept
`;
const ADD = ['add', 'b', '-g', '--', 'npx', 'y'];

/** One edit of the global config by the real command, in a world that fails at one operation. */
async function edit(fault: 'kill' | 'half' | 'full', at: number) {
  const scene = await prepareRegistry();
  scene.write(scene.configFile, MINE);
  const log = join(scene.cwd, 'operations');
  const env = {
    NODE_OPTIONS: `--require=${fixturePath('edit-fault.cjs')}`,
    FAULT: fault,
    FAULT_AT: String(at),
    FAULT_LOG: log,
  };
  const outcome = await scene.runWith(env, ...ADD);
  return { ...outcome, scene, operations: readFileSync(log, 'utf8').trimEnd().split('\n') };
}

describe('C4: an edit that is interrupted', () => {
  it('an edit killed with -9 at any step leaves the old or the new text, byte for byte; the next edit succeeds', async () => {
    const whole = await edit('kill', 0);
    expect(whole.status).toBe(0);
    const after = whole.scene.read(whole.scene.configFile);
    expect(after.startsWith(MINE)).toBe(true);
    // it really is: a temporary file, synced, renamed
    const steps = whole.operations.join(' ');
    expect(steps).toMatch(/open .*file\.writeFile file\.sync file\.close .*rename/);
    const renamed = whole.operations.indexOf('rename') + 1;
    for (let at = 1; at <= whole.operations.length; at++) {
      const fault = whole.operations[at - 1] === 'file.writeFile' ? 'half' : 'kill';
      const { stdout, scene } = await edit(fault, at);
      expect(stdout).toBe('');
      expect([at, scene.read(scene.configFile)]).toEqual([at, at <= renamed ? MINE : after]);
      if (fault !== 'half') continue;
      // the temporary file that stays blocks no later edit
      expect(readdirSync(join(scene.configFile, '..')).filter((name) => name.endsWith('.tmp'))).toHaveLength(
        1,
      );
      expect((await scene.run(...ADD)).status).toBe(0);
      expect(scene.read(scene.configFile)).toBe(after);
    }
  });

  it('an edit on a full disk is an error with a fix, and no temporary file stays: exit 1', async () => {
    const { operations } = await edit('full', 0);
    for (const step of ['file.writeFile', 'file.sync', 'rename']) {
      const { status, stderr, scene } = await edit('full', operations.indexOf(step) + 1);
      expect(status).toBe(1);
      expect(stderr).toBe(
        [
          `error: ToolherdError: ${scene.configFile} could not be written`,
          `  why: ENOSPC: no space left on device, ${step}. The file is as it was.`,
          '  fix: Free some space on the disk and run the command again.',
          '',
        ].join('\n'),
      );
      expect(scene.read(scene.configFile)).toBe(MINE);
      expect(readdirSync(join(scene.configFile, '..'))).toEqual(['config.yaml']);
    }
  });
});
