// A model on loopback that asks a client to call the herd's get-sum with 2 and 3, and then ends. It speaks the
// APIs of Anthropic (messages), OpenAI (chat completions, responses) and Gemini, streaming where the client asks for it.
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';

const ARGUMENTS = { a: 2, b: 3 };
export const ANSWER = 'The sum of 2 and 3 is 5.';
const FAREWELL = 'DONE';
const PAUSE_MS = 2_000;
const USAGE = { input_tokens: 1, output_tokens: 1 };

/**
 * A call that the model asks for.
 * @typedef {{ name: string, args: object }} Call
 */
/**
 * What one request to the model holds: the names of the tools, everything said so far, and how many calls were answered.
 * @typedef {{ tools: string[], said: string, answered: number }} Conversation
 */
/**
 * `isFor`: whether a request has this path. `read`: its conversation. `reply`: the answer; a call, or a text when `call` is
 * undefined. `streams`: whether it wants events; `events`: the answer as those.
 * @typedef {object} Api
 * @property {(path: string) => boolean} isFor
 * @property {(body: any) => Conversation} read
 * @property {(path: string, body: any) => boolean} streams
 * @property {(call: Call | undefined) => object} reply
 * @property {(call: Call | undefined) => [event: string | undefined, data: object | string][]} events
 */

/** @type {Record<string, Api>} */
const APIS = {
  messages: {
    isFor: (path) => path.endsWith('/messages'),
    read: ({ tools = [], messages = [] }) => ({
      tools: tools.map((/** @type {any} */ { name }) => name),
      said: JSON.stringify(messages),
      answered: occurrences(messages, '"type":"tool_result"'),
    }),
    streams: (_, { stream }) => stream === true,
    reply: (call) => ({ ...ANTHROPIC_MESSAGE, ...anthropicEnd(call), content: [anthropicBlock(call)] }),
    events: (call) => [
      ['message_start', { type: 'message_start', message: { ...ANTHROPIC_MESSAGE, content: [] } }],
      [
        'content_block_start',
        {
          type: 'content_block_start',
          index: 0,
          content_block:
            call === undefined ? { type: 'text', text: '' } : { ...anthropicBlock(call), input: {} },
        },
      ],
      [
        'content_block_delta',
        {
          type: 'content_block_delta',
          index: 0,
          delta:
            call === undefined
              ? { type: 'text_delta', text: FAREWELL }
              : { type: 'input_json_delta', partial_json: JSON.stringify(call.args) },
        },
      ],
      ['content_block_stop', { type: 'content_block_stop', index: 0 }],
      ['message_delta', { type: 'message_delta', delta: anthropicEnd(call), usage: USAGE }],
      ['message_stop', { type: 'message_stop' }],
    ],
  },
  chat: {
    isFor: (path) => path.endsWith('/chat/completions'),
    read: ({ tools = [], messages = [] }) => ({
      tools: tools.map((/** @type {any} */ tool) => tool.function?.name ?? ''),
      said: JSON.stringify(messages),
      answered: occurrences(messages, '"role":"tool"'),
    }),
    streams: (_, { stream }) => stream === true,
    reply: (call) => ({
      ...CHAT_COMPLETION,
      object: 'chat.completion',
      choices: [
        { index: 0, message: { role: 'assistant', ...chatContent(call) }, finish_reason: chatEnd(call) },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
    events: (call) => {
      const chunk = (/** @type {object} */ delta, /** @type {string | null} */ finish_reason) => ({
        ...CHAT_COMPLETION,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason }],
      });
      return [
        [undefined, chunk({ role: 'assistant', ...chatContent(call) }, null)],
        [undefined, chunk({}, chatEnd(call))],
        [undefined, '[DONE]'],
      ];
    },
  },
  responses: {
    isFor: (path) => path.endsWith('/responses'),
    read: ({ tools = [], input = [] }) => ({
      tools: tools.flatMap((/** @type {any} */ { name, type, tools: inner }) =>
        // Codex puts the tools of one server into a namespace.
        type === 'namespace' ? inner.map((/** @type {any} */ tool) => `${name}\n${tool.name}`) : [name ?? ''],
      ),
      said: JSON.stringify(input),
      answered: occurrences(input, '"type":"function_call_output"'),
    }),
    streams: (_, { stream }) => stream === true,
    reply: (call) => ({ ...RESPONSE, status: 'completed', output: [responseItem(call)] }),
    events: (call) => {
      const item = responseItem(call);
      return [
        event('response.created', { response: { ...RESPONSE, status: 'in_progress', output: [] } }),
        event('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress' } }),
        ...(call === undefined
          ? [
              event('response.output_text.delta', {
                item_id: item.id,
                output_index: 0,
                content_index: 0,
                delta: FAREWELL,
              }),
            ]
          : [
              event('response.function_call_arguments.done', {
                item_id: item.id,
                output_index: 0,
                arguments: JSON.stringify(call.args),
              }),
            ]),
        event('response.output_item.done', { output_index: 0, item }),
        event('response.completed', { response: { ...RESPONSE, status: 'completed', output: [item] } }),
      ];
    },
  },
  gemini: {
    isFor: (path) => /:(stream)?generateContent/i.test(path),
    read: ({ tools = [], contents = [] }) => ({
      tools: tools.flatMap((/** @type {any} */ { functionDeclarations = [] }) =>
        functionDeclarations.map((/** @type {any} */ { name }) => name),
      ),
      said: JSON.stringify(contents),
      answered: occurrences(contents, '"functionResponse"'),
    }),
    streams: (path) => /:streamGenerateContent/i.test(path),
    reply: geminiReply,
    events: (call) => [[undefined, geminiReply(call)]],
  },
};

const ANTHROPIC_MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'stand-in',
  stop_reason: null,
  stop_sequence: null,
  usage: USAGE,
};
const CHAT_COMPLETION = { id: 'chat_1', created: 1, model: 'stand-in' };
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'stand-in',
  usage: { ...USAGE, total_tokens: 2 },
};

/** @param {Call | undefined} call */
function anthropicBlock(call) {
  if (call === undefined) return { type: 'text', text: FAREWELL };
  return { type: 'tool_use', id: `call_${next()}`, name: call.name, input: call.args };
}

/** @param {Call | undefined} call */
function anthropicEnd(call) {
  return { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null };
}

/** @param {Call | undefined} call */
function chatContent(call) {
  if (call === undefined) return { content: FAREWELL };
  const called = { name: call.name, arguments: JSON.stringify(call.args) };
  return {
    content: null,
    tool_calls: [{ index: 0, id: `call_${next()}`, type: 'function', function: called }],
  };
}

/** @param {Call | undefined} call */
function chatEnd(call) {
  return call === undefined ? 'stop' : 'tool_calls';
}

/** @param {Call | undefined} call */
function responseItem(call) {
  const id = `item_${next()}`;
  if (call === undefined) {
    const content = [{ type: 'output_text', text: FAREWELL, annotations: [] }];
    return { id, type: 'message', role: 'assistant', status: 'completed', content };
  }
  const [name, namespace] = call.name.split('\n').reverse();
  const called = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    arguments: JSON.stringify(call.args),
  };
  return { id, type: 'function_call', call_id: `call_${id}`, status: 'completed', ...called };
}

/** @param {Call | undefined} call */
function geminiReply(call) {
  const part =
    call === undefined ? { text: FAREWELL } : { functionCall: { name: call.name, args: call.args } };
  return {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
}

/**
 * @param {string} type
 * @param {object} data
 * @returns {[string, object]}
 */
function event(type, data) {
  return [type, { type, sequence_number: next(), ...data }];
}

let count = 0;
function next() {
  count += 1;
  return count;
}

/**
 * @param {unknown} value
 * @param {string} part
 */
function occurrences(value, part) {
  return JSON.stringify(value).split(part).length - 1;
}

/**
 * The next call: get-sum, or what a client offers to find and run tools that it does not show the model at once.
 * @param {Conversation} conversation
 * @returns {Call | undefined}
 */
function nextCall({ tools, said, answered }) {
  // Some clients connect while the first searches run: those find nothing yet.
  if (said.includes(ANSWER) || answered >= 8) return undefined;
  const sum = tools.find((name) => /get[-_]sum$/.test(name));
  if (sum !== undefined) return { name: sum, args: ARGUMENTS };
  const named = (/** @type {RegExp} */ pattern) => tools.find((name) => pattern.test(name));
  const found = /[\w.-]*everything[\w.-]*get[-_]sum/.exec(said)?.[0];
  if (found !== undefined && tools.includes('use_tool'))
    return { name: 'use_tool', args: { tool_name: found, tool_input: ARGUMENTS } };
  if (found !== undefined && tools.includes('tool_call'))
    return { name: 'tool_call', args: { name: found, arguments: ARGUMENTS } };
  const searches = named(/(tool_?search|search_?tool)/i);
  if (searches === undefined) return undefined;
  return { name: searches, args: { query: 'everything get-sum', max_results: 5 } };
}

/**
 * Starts the model on a free port. `seen` is what it has seen since the last `forget`: the tools of the herd that a
 * client offered, and whether a client brought the answer of get-sum.
 */
export async function startModel({ verbose = false } = {}) {
  let seen = { tools: 0, answered: false };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const path = (request.url ?? '').replace(/\?.*/, '');
    const api = Object.values(APIS).find(({ isFor }) => request.method === 'POST' && isFor(path));
    if (verbose) console.error(`    model: ${request.method} ${request.url} ${text.length} bytes`);
    if (api === undefined) {
      const isList = /\/models$/.test(path);
      response.writeHead(isList ? 200 : 404, { 'content-type': 'application/json' });
      const model = { id: 'stand-in', object: 'model', created: 1, owned_by: 'stand-in' };
      response.end(
        JSON.stringify(isList ? { object: 'list', data: [model] } : { error: { message: 'not here' } }),
      );
      return;
    }
    const body = parse(text);
    const conversation = api.read(body);
    const call = nextCall(conversation);
    // A search that is repeated at once finds no more than the one before.
    if (call !== undefined && conversation.answered > 0) await setTimeout(PAUSE_MS);
    const herd = conversation.tools.filter((name) => /everything/.test(name)).length;
    seen = {
      tools: Math.max(seen.tools, herd),
      answered: seen.answered || conversation.said.includes(ANSWER),
    };
    if (verbose)
      console.error(
        `    model: ${conversation.tools.length} tools (${conversation.tools.join(' ').replaceAll('\n', '/').slice(0, 600)}), asks for ${call?.name ?? 'nothing'}`,
      );
    if (!api.streams(path, body)) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(api.reply(call)));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [name, data] of api.events(call)) {
      if (name !== undefined) response.write(`event: ${name}\n`);
      response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    seen: () => seen,
    forget: () => {
      seen = { tools: 0, answered: false };
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
