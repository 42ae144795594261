import { expect, it } from 'vitest';
import { recordedServers } from '../../bench/search/sets.mjs';
import { OWN_TOOLS } from '../../src/ipc/mcp/own-tools.js';
import { tokensOf } from '../../src/shared/mcp/surface.js';
import { lines } from '../../src/supervisor/view/view-instructions.js';
import { expectRegion, markdownTable, readDoc } from '../support/docs.js';

interface Recorded {
  name: string;
  instructions?: string;
  tools: unknown[];
}

const SERVERS = recordedServers() as Recorded[];
const told = SERVERS.map(({ name, instructions = '' }) => ({ server: name, text: instructions }));
const TOOLS = tokensOf(OWN_TOOLS);
const LINES = tokensOf(lines(told));
const many = Array.from({ length: 1000 }, (_, at) => ({
  server: `server-${at}`,
  text: 'Many words of a server about its use. '.repeat(100),
}));
const MOST = TOOLS + tokensOf(lines(many));

it('an agent in search mode reads at most 1,000 tokens before its task, however large the herd is', () => {
  expect(TOOLS + LINES).toBeLessThan(MOST);
  expect(MOST).toBeLessThanOrEqual(1000);
});

it('the standing cost is in docs/SEARCH.md and README.md as it is measured (npm run docs)', () => {
  const count = SERVERS.reduce((sum, { tools }) => sum + tools.length, 0);
  const rows = [
    ['the four tools', TOOLS],
    [`the instructions of ${SERVERS.length} servers, a line each`, LINES],
    [`both: the standing cost with ${count} tools of ${SERVERS.length} servers`, TOOLS + LINES],
    ['the most, with any number of tools and servers', MOST],
  ] as const;
  const table = markdownTable(
    ['what an agent in search mode reads before every task', 'tokens (characters / 4)'],
    rows.map(([what, tokens]) => [what, String(tokens)]),
  );
  expectRegion('docs/SEARCH.md', 'standing cost', table);
  expect(readDoc('README.md')).toContain(`${Math.round((TOOLS + LINES) / 100) * 100} tokens`);
});
