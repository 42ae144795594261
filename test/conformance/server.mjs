// What the conformance suite wants of a server, over stdio and in the handshake era: the suite itself speaks to
// toolherd, which stands in front of it.
import { setTimeout as sleep } from 'node:timers/promises';
import { send, serve } from '../fixtures/mini.mjs';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';
const STEP_MS = 50;
const SLOW_MS = 1500;
const MISSING_CAPABILITY = -32021;

const asked = new Map();
let questions = 0;
let extraTools = 0;
let extraPrompts = 0;

const text = (value) => ({ type: 'text', text: value });
const says = (...content) => ({ content });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri, mimeType, body) => ({ type: 'resource', resource: { uri, mimeType, text: body } });
const notify = (method, params) => send({ method, params });
const log = (data) => notify('notifications/message', { level: 'info', logger: 'conformance', data });

/** Asks the client, and waits for what it answers. */
function ask(method, params) {
  questions += 1;
  const id = `question-${questions}`;
  return new Promise((resolve, reject) => {
    asked.set(id, { resolve, reject });
    send({ id, method, params });
  });
}

function answered({ id, result, error }) {
  const { resolve, reject } = asked.get(id) ?? {};
  asked.delete(id);
  if (error === undefined) resolve?.(result);
  else reject?.(Object.assign(new Error(error.message), { code: error.code, data: error.data }));
}

const form = (properties, required) => ({ type: 'object', properties, ...(required && { required }) });
const elicit = (message, requestedSchema) => ask('elicitation/create', { message, requestedSchema });
const sample = (prompt, maxTokens = 100) =>
  ask('sampling/createMessage', { messages: [{ role: 'user', content: text(prompt) }], maxTokens });
const name = form({ name: { type: 'string' } }, ['name']);
const completed = ({ action, content }) =>
  says(text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`));

const tools = {
  test_simple_text: () => says(text('This is a simple text response for testing.')),
  test_image_content: () => says(image),
  test_audio_content: () => says({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: () =>
    says(embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  test_multiple_content_types: () =>
    says(
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ),
  async test_tool_with_logging() {
    log('Tool execution started');
    await sleep(STEP_MS);
    log('Tool processing data');
    await sleep(STEP_MS);
    log('Tool execution completed');
    return says(text('logged'));
  },
  async test_logging_tool() {
    log('a log line without a request');
    return says(text('logged'));
  },
  test_error_handling: () => ({
    ...says(text('This tool intentionally returns an error for testing')),
    isError: true,
  }),
  async test_tool_with_progress(_, { params: { _meta: { progressToken } = {} } }) {
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        notify('notifications/progress', { progressToken, progress, total: 100 });
      await sleep(STEP_MS);
    }
    return says(text(String(progressToken)));
  },
  async test_sampling({ prompt }) {
    const { content } = await sample(prompt);
    return says(text(`LLM response: ${content.text}`));
  },
  async test_elicitation({ message }) {
    const username = { type: 'string', description: "User's response" };
    const email = { type: 'string', description: "User's email address" };
    const { action, content } = await elicit(message, form({ username, email }, ['username', 'email']));
    return says(text(`User response: action: ${action}, content: ${JSON.stringify(content ?? {})}`));
  },
  async test_elicitation_sep1034_defaults() {
    const status = { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' };
    return completed(
      await elicit(
        'Please review',
        form({
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status,
          verified: { type: 'boolean', default: true },
        }),
      ),
    );
  },
  async test_elicitation_sep1330_enums() {
    const options = ['option1', 'option2', 'option3'];
    const titled = (word) =>
      ['First', 'Second', 'Third'].map((nth, index) => ({
        const: `value${index + 1}`,
        title: `${nth} ${word}`,
      }));
    const enumNames = ['Option One', 'Option Two', 'Option Three'];
    return completed(
      await elicit(
        'Please choose',
        form({
          untitledSingle: { type: 'string', enum: options },
          titledSingle: { type: 'string', oneOf: titled('Option') },
          legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames },
          untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
          titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
        }),
      ),
    );
  },
  /** So slow that the reply becomes a stream, to which a client could come back. */
  async test_reconnection() {
    await sleep(SLOW_MS);
    return says(text('Reconnection test completed successfully'));
  },
  test_header_tool: ({ region }) => says(text(`region: ${region}`)),
  json_schema_2020_12_tool: () => says(text('valid')),

  // of 2026-07-28
  async test_missing_capability() {
    const answer = await sample('may I?').catch(({ message: why }) => {
      const data = { requiredCapabilities: { sampling: {} } };
      throw Object.assign(new Error(why), { code: MISSING_CAPABILITY, data });
    });
    return says(text(answer.content.text));
  },
  async test_streaming_elicitation() {
    return completed(await elicit('Go on?', form({ ok: { type: 'boolean' } })));
  },
  test_trigger_tool_change() {
    extraTools += 1;
    notify('notifications/tools/list_changed');
    return says(text('changed'));
  },
  test_trigger_prompt_change() {
    extraPrompts += 1;
    notify('notifications/prompts/list_changed');
    return says(text('changed'));
  },
  async test_input_required_result_elicitation() {
    const { content } = await elicit('What is your name?', name);
    return says(text(`Hello, ${content?.name}!`));
  },
  async test_input_required_result_sampling() {
    return says(text((await sample('What is the capital of France?')).content.text));
  },
  async test_input_required_result_list_roots() {
    return says(text(JSON.stringify((await ask('roots/list', {})).roots)));
  },
  async test_input_required_result_request_state() {
    await elicit('Please confirm', form({ ok: { type: 'boolean' } }, ['ok']));
    return says(text('state-ok'));
  },
  async test_input_required_result_tampered_state() {
    await elicit('Please confirm', form({ ok: { type: 'boolean' } }, ['ok']));
    return says(text('state-ok'));
  },
  async test_input_required_result_multiple_inputs() {
    const all = [
      elicit('What is your name?', name),
      sample('Generate a greeting', 50),
      ask('roots/list', {}),
    ];
    return says(text(JSON.stringify(await Promise.all(all))));
  },
  async test_input_required_result_multi_round() {
    const first = await elicit('Step 1: What is your name?', name);
    const color = form({ color: { type: 'string' } }, ['color']);
    const second = await elicit('Step 2: What is your favorite color?', color);
    return says(text(`${first.content?.name} likes ${second.content?.color}`));
  },
  async test_input_required_result_capabilities() {
    return says(text((await sample('What is the capital of France?')).content.text));
  },
};

const ANYTHING = { type: 'object', properties: {} };
const property = (key) => ({ type: 'object', properties: { [key]: { type: 'string' } }, required: [key] });
const SCHEMAS = {
  test_sampling: property('prompt'),
  test_elicitation: property('message'),
  test_header_tool: {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    required: ['region'],
  },
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
};

const message = (content) => ({ role: 'user', content });
const prompts = {
  test_simple_prompt: () => [message(text('This is a simple prompt for testing.'))],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [
    message(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  ],
  test_prompt_with_embedded_resource: ({ resourceUri }) => [
    message(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
    message(text('Please process the embedded resource above.')),
  ],
  test_prompt_with_image: () => [message(image), message(text('Please analyze the image above.'))],
  async test_input_required_result_prompt() {
    const context = form({ context: { type: 'string' } }, ['context']);
    const { content } = await elicit('What context should the prompt use?', context);
    return [message(text(`In the context of ${content?.context}`))];
  },
};
const ARGUMENTS = {
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
};

const describe = (kind, key) => ({ name: key, description: `The ${kind} ${key}` });
const extra = (kind, count) => Array.from({ length: count }, (_, index) => `extra_${kind}_${index + 1}`);
const resource = (uri, mimeType) => ({ uri, mimeType, ...describe('resource', uri.split('://')[1]) });
const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;

function read({ id, params: { uri } }) {
  const [, key] = TEMPLATE.exec(uri) ?? [];
  const found = {
    'test://static-text': {
      mimeType: 'text/plain',
      text: 'This is the content of the static text resource.',
    },
    'test://static-binary': { mimeType: 'image/png', blob: PNG },
    'test://watched-resource': { mimeType: 'text/plain', text: 'watched' },
    ...(key && {
      [uri]: {
        mimeType: 'application/json',
        text: JSON.stringify({ id: key, templateTest: true, data: `Data for ID: ${key}` }),
      },
    }),
  }[uri];
  if (found !== undefined) return { contents: [{ uri, ...found }] };
  send({ id, error: { code: -32602, message: `Resource not found: ${uri}`, data: { uri } } });
}

/** What fails is the request's own error. */
async function run({ id }, action) {
  try {
    return await action();
  } catch ({ code = -32603, message: why, data }) {
    send({ id, error: { code, message: why, data } });
  }
}

serve({
  methods: {
    initialize: ({ params }) => ({
      protocolVersion: params.protocolVersion,
      serverInfo: { name: 'conformance', version: '1.0.0' },
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
    }),
    reply: answered,
    'tools/list': () => ({
      tools: [...Object.keys(tools), ...extra('tool', extraTools)].map((key) => ({
        ...describe('tool', key),
        inputSchema: SCHEMAS[key] ?? ANYTHING,
      })),
    }),
    'tools/call': (request) =>
      run(request, () => {
        const { name: key, arguments: args = {} } = request.params;
        if (tools[key] !== undefined) return tools[key](args, request);
        throw Object.assign(new Error(`Unknown tool: ${key}`), { code: -32602 });
      }),
    'prompts/list': () => ({
      prompts: [...Object.keys(prompts), ...extra('prompt', extraPrompts)].map((key) => ({
        ...describe('prompt', key),
        arguments: (ARGUMENTS[key] ?? []).map((one) => ({ ...describe('argument', one), required: true })),
      })),
    }),
    'prompts/get': (request) =>
      run(request, async () => {
        const { name: key, arguments: args = {} } = request.params;
        if (prompts[key] !== undefined) return { messages: await prompts[key](args) };
        throw Object.assign(new Error(`Unknown prompt: ${key}`), { code: -32602 });
      }),
    'resources/list': () => ({
      resources: [
        resource('test://static-text', 'text/plain'),
        resource('test://static-binary', 'image/png'),
        resource('test://watched-resource', 'text/plain'),
      ],
    }),
    'resources/templates/list': () => ({
      resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', ...describe('template', 'data') }],
    }),
    'resources/read': read,
    'resources/subscribe': () => ({}),
    'resources/unsubscribe': () => ({}),
    'logging/setLevel': () => ({}),
    'completion/complete': () => ({
      completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false },
    }),
  },
});
