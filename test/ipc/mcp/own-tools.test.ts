import { expect, test } from 'vitest';
import { acceptableSchema } from '../../../src/fleet/definitions.js';
import { OWN_TOOLS } from '../../../src/ipc/mcp/own-tools.js';
import { OWN_TOOL_NAMES, tokensOf } from '../../../src/shared/mcp/surface.js';

test('the four tools for a searching agent cost at most 600 tokens together', () => {
  expect(OWN_TOOLS.map(({ name }) => name)).toEqual(OWN_TOOL_NAMES);
  expect(tokensOf(OWN_TOOLS)).toBeLessThanOrEqual(600);
});

test('the schemas of the four tools are such as every client accepts', () => {
  for (const { inputSchema } of OWN_TOOLS) expect(acceptableSchema(inputSchema)).toBe(inputSchema);
});
