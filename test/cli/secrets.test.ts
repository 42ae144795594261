import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolherd } from '../support/command.js';
import { makeFolder } from '../support/folder.js';

const CANARY = 'canary-4f1b9c';

const AGENT = `tools:
  - name: local
    description: d
    type: mcp
    server: s
    command: npx
    args: ["\${FROM_ENVIRONMENT}"]
    env: {API_KEY: ${CANARY}-literal, OTHER: "\${FROM_FILE}"}
    envFile: .env
  - name: remote
    description: d
    type: mcp
    server: s
    transport: http
    url: "https://example.com/\${FROM_ENVIRONMENT}"
    headers: {Authorization: "Bearer ${CANARY}-header"}
`;

/** Everything that a run of the command has left on the disk. */
function savedText(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
}

describe('X1 SC-005: a secret in env, envFile or headers', () => {
  it.each([
    ['a good file', AGENT],
    ['a file with problems', AGENT.replaceAll('type: mcp', 'type: mcp\n    tiemout: 5')],
    ['a file with an unset variable', AGENT.replace('FROM_FILE', 'NOT_THERE')],
    ['a file that is no YAML', `${AGENT}   - [`],
  ])('no output and no saved file has a secret of %s', async (_, agent) => {
    const cwd = makeFolder({
      'home/config.yaml': '',
      'agent.yaml': agent,
      '.env': `FROM_FILE=${CANARY}-file\n`,
    });
    const env = { FROM_ENVIRONMENT: `${CANARY}-environment` };
    for (const args of [['validate'], ['allow', '--yes'], ['allow'], ['revoke'], ['allow', '--yes']]) {
      for (const more of [[], ['--json']]) {
        const { stdout, stderr } = await toolherd([...args, ...more], { cwd, env });
        expect(`${stdout}${stderr}`).not.toContain(CANARY);
      }
    }
    expect(savedText(join(cwd, 'home'))).not.toContain(CANARY);
  });
});
