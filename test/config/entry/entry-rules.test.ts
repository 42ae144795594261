import { expect, onTestFinished, test } from 'vitest';
import { loadHerd } from '../support.js';

const CONFIG = `version: "1.0"
daemon: {max_rss: 1000000}
mcp_servers:
  - {name: a, description: a, server: a, command: npx, max_rss: 1000000}
  - {name: b, description: b, server: b, command: npx}
`;

function pretendToBe(platform: string): void {
  const own = Object.getOwnPropertyDescriptor(process, 'platform')!;
  Object.defineProperty(process, 'platform', { ...own, value: platform });
  onTestFinished(() => void Object.defineProperty(process, 'platform', own));
}

test('each max_rss is a warning on systems where memory is not measured', async () => {
  pretendToBe('darwin');
  const { warnings } = await loadHerd({ config: CONFIG });
  expect(warnings.map(({ line, path, message }) => ({ line, path, message }))).toEqual([
    { line: 2, path: 'daemon.max_rss', message: expect.stringContaining('not on darwin') },
    { line: 4, path: 'mcp_servers[0].max_rss', message: expect.stringContaining("'max_rss' has no effect") },
  ]);
});

test('max_rss gives no warning on Linux', async () => {
  pretendToBe('linux');
  expect((await loadHerd({ config: CONFIG })).warnings).toEqual([]);
});
