// Sets of queries with the tools that answer them: our own, and public ones from a folder.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ server: string, definition: Record<string, unknown>, instructions?: string }} SetTool
 * @typedef {{ query: string, labels: Map<string, number> }} SetQuery `labels`: how well a tool answers, by `server.tool`.
 * @typedef {{ title: string, tools: SetTool[], queries: SetQuery[] }} QuerySet
 */

const read = (/** @type {string} */ file) => JSON.parse(readFileSync(file, 'utf8'));

export const idOf = (/** @type {{ server: string, definition: Record<string, unknown> }} */ tool) =>
  `${tool.server}.${tool.definition.name}`;

/** The servers of servers.json, as they were recorded. */
export function recordedServers() {
  return read(join(import.meta.dirname, 'servers.json')).servers;
}

/** @returns {QuerySet} */
export function ownSet() {
  const tools = recordedServers().flatMap(
    (/** @type {{ name: string, instructions?: string, tools: Record<string, unknown>[] }} */ server) =>
      server.tools.map((definition) => ({
        server: server.name,
        definition,
        instructions: server.instructions,
      })),
  );
  const golden = read(join(import.meta.dirname, 'golden.json'));
  const queries = golden.map((/** @type {{ query: string, labels: Record<string, number> }} */ one) => ({
    query: one.query,
    labels: new Map(Object.entries(one.labels)),
  }));
  return { title: 'our own', tools, queries };
}

/**
 * The public sets of a folder. A file that is not there is left out.
 * @param {string} folder
 * @returns {QuerySet[]}
 */
export function publicSets(folder) {
  const has = (/** @type {string[]} */ ...files) => files.every((file) => existsSync(join(folder, file)));
  const sets = [];
  if (has('corpus_v2.tools.json', 'retrieval_golden_v1.json')) sets.push(mcpproxySet(folder));
  if (has('livemcp_tools.json', 'livemcp_tasks.json'))
    sets.push(liveSet(folder, 'steps'), liveSet(folder, 'tasks'));
  return sets;
}

/** The golden set of mcpproxy-go (MIT). Labels of relevance 0 are tools that must not be mistaken for an answer. */
function mcpproxySet(/** @type {string} */ folder) {
  const tools = read(join(folder, 'corpus_v2.tools.json')).tools.map(
    (/** @type {Record<string, any>} */ tool) => ({
      server: tool.server,
      definition: { name: tool.tool, description: tool.description, inputSchema: tool.schema },
    }),
  );
  const queries = read(join(folder, 'retrieval_golden_v1.json')).queries.map(
    (
      /** @type {{ query: string, labels: { tool_id: string, relevance: number }[] }} */ { query, labels },
    ) => ({
      query,
      labels: new Map(
        labels
          .filter(({ relevance }) => relevance > 0)
          .map(({ tool_id, relevance }) => [tool_id.replace(':', '.'), relevance]),
      ),
    }),
  );
  return { title: 'mcpproxy-go', tools, queries };
}

/**
 * LiveMCPBench (Apache-2.0). `tasks`: the query is a whole task, and every tool that it needs is an answer. `steps`: the
 * query is one step of a task that has as many steps as tools.
 * @param {string} folder
 * @param {'steps' | 'tasks'} kind
 */
function liveSet(folder, kind) {
  /** @type {SetTool[]} */
  const tools = read(join(folder, 'livemcp_tools.json')).tools.map(
    (/** @type {Record<string, any>} */ tool) => ({
      server: tool.server,
      definition: { name: tool.tool, description: tool.description, inputSchema: tool.inputSchema },
    }),
  );
  const labelsOf = (/** @type {string[]} */ names) =>
    new Map(
      tools
        .filter(({ definition }) => names.includes(String(definition.name)))
        .map((tool) => [idOf(tool), 1]),
    );
  const lines = (/** @type {string} */ text) =>
    text
      .split('\n')
      .map((line) => line.replace(/^\s*\d+[.、)]\s*/, '').trim())
      .filter((line) => line !== '');
  /** @type {SetQuery[]} */
  const queries = [];
  for (const { Question: question, 'Annotator Metadata': about } of read(
    join(folder, 'livemcp_tasks.json'),
  )) {
    const names = lines(about.Tools);
    const steps = lines(about.Steps);
    if (kind === 'tasks') queries.push({ query: question, labels: labelsOf(names) });
    else if (steps.length === names.length)
      for (const [at, query] of steps.entries()) queries.push({ query, labels: labelsOf([names[at]]) });
  }
  const answerable = queries.filter(({ labels }) => labels.size > 0);
  return { title: `LiveMCPBench, ${kind}`, tools, queries: answerable };
}
