// The programs of `npm run interop:clients`, each as its makers publish it on npm and without an account.
import { join } from 'node:path';

/**
 * Where a program runs, and the model that it may ask.
 * @typedef {{ home: string, model: string }} Place
 */
/**
 * @typedef {object} Program
 * @property {string} client its name for `toolherd attach`
 * @property {string} package on npm
 * @property {string} [version] where the newest one cannot be installed
 * @property {string} bin the command, below node_modules
 * @property {string} [node] a line of Node, for those that are scripts and need a newer one
 * @property {(place: Place) => Record<string, string>} [env]
 * @property {(place: Place) => Record<string, string>} [files] in its home, by path: a config without servers
 * @property {(place: Place) => string[]} [login] the words that have it know the model, where that is no file
 * @property {string[]} [list] the words that make it connect
 * @property {RegExp} [listed] what it shows when it has connected
 * @property {boolean} [connects] false: `list` shows the entry without connecting
 * @property {string[]} [ask] the words that have it ask the model
 * @property {string} [unasked] why the model cannot drive it
 */

const PROMPT = 'Add 2 and 3 with the tool get-sum.';
const json = (/** @type {unknown} */ value) => `${JSON.stringify(value, null, 2)}\n`;

/** The config of opencode, which Kilo shares. */
const openCodeConfig = (/** @type {Place} */ { model }, /** @type {string} */ $schema) =>
  json({
    $schema,
    provider: {
      'stand-in': {
        npm: '@ai-sdk/openai-compatible',
        name: 'stand-in',
        options: { baseURL: `${model}/v1`, apiKey: 'none' },
        models: { 'stand-in': { name: 'stand-in' } },
      },
    },
    model: 'stand-in/stand-in',
    autoupdate: false,
    share: 'disabled',
    // Kilo adds this at its first run.
    permission: { bash: 'allow' },
  });

/** @type {Program[]} */
export const PROGRAMS = [
  {
    client: 'claude-code',
    package: '@anthropic-ai/claude-code',
    bin: '.bin/claude',
    env: ({ model }) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    list: ['mcp', 'list'],
    listed: /toolherd: .* Connected/,
    ask: ['-p', PROMPT, '--allowedTools', 'mcp__toolherd'],
  },
  {
    client: 'codex',
    package: '@openai/codex',
    bin: '.bin/codex',
    files: ({ model }) => ({
      '.codex/config.toml': `model = "stand-in"
model_provider = "stand-in" # mine
check_for_update_on_startup = false

[model_providers.stand-in]
name = "stand-in"
base_url = "${model}/v1"
wire_api = "responses"
`,
    }),
    list: ['mcp', 'list'],
    listed: /toolherd .* enabled/,
    connects: false,
    ask: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', PROMPT],
  },
  {
    client: 'gemini',
    package: '@google/gemini-cli',
    bin: '.bin/gemini',
    env: ({ model }) => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: model }),
    files: () => ({
      '.gemini/settings.json': json({
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      }),
    }),
    list: ['mcp', 'list'],
    listed: /✓ toolherd: .* Connected/,
    ask: ['-y', '-m', 'gemini-2.5-flash', '-p', PROMPT],
  },
  {
    client: 'opencode',
    package: 'opencode-ai',
    bin: '.bin/opencode',
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    files: (place) => ({
      '.config/opencode/opencode.json': openCodeConfig(place, 'https://opencode.ai/config.json'),
    }),
    list: ['mcp', 'list'],
    listed: /✓ toolherd .*connected/,
    ask: ['run', '-m', 'stand-in/stand-in', PROMPT],
  },
  {
    client: 'kilo',
    package: '@kilocode/cli',
    // 7.8.1 names a package with its binary that npm does not have.
    version: '7.7.7',
    bin: '.bin/kilo',
    env: () => ({ KILO_DISABLE_AUTOUPDATE: '1', KILO_DISABLE_MODELS_FETCH: '1' }),
    files: (place) => ({
      '.config/kilo/kilo.jsonc': openCodeConfig(place, 'https://app.kilo.ai/config.json'),
    }),
    list: ['mcp', 'list'],
    listed: /✓ toolherd .*connected/,
    ask: ['run', '--auto', '-m', 'stand-in/stand-in', PROMPT],
  },
  {
    client: 'cline',
    package: 'cline',
    bin: '.bin/cline',
    login: ({ model }) => ['auth', '-p', 'openai', '-k', 'none', '-m', 'stand-in', '-b', `${model}/v1`],
    list: ['config', 'mcp'],
    listed: /toolherd/,
    connects: false,
    ask: [PROMPT],
  },
  {
    client: 'qwen',
    package: '@qwen-code/qwen-code',
    bin: '.bin/qwen',
    env: ({ model }) => ({
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: `${model}/v1`,
      OPENAI_MODEL: 'stand-in',
    }),
    files: () => ({
      '.qwen/settings.json': json({
        security: { auth: { selectedType: 'openai' } },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        $version: 4,
      }),
    }),
    list: ['mcp', 'list'],
    listed: /✓ toolherd: .* Connected/,
    ask: ['-y', '--auth-type', 'openai', '-p', PROMPT],
  },
  {
    client: 'copilot',
    package: '@github/copilot',
    bin: '.bin/copilot',
    env: ({ model }) => ({
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_API_KEY: 'none',
      COPILOT_MODEL: 'stand-in',
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
    }),
    list: ['mcp', 'list'],
    listed: /toolherd/,
    connects: false,
    ask: ['-p', PROMPT, '--allow-all-tools'],
  },
  {
    client: 'continue',
    package: '@continuedev/cli',
    bin: '.bin/cn',
    env: () => ({ CONTINUE_CLI_ENABLE_TELEMETRY: '0', CONTINUE_TELEMETRY_ENABLED: '0' }),
    files: ({ model }) => ({
      '.continue/config.yaml': `name: mine # by hand
version: 1.0.0
schema: v1
models:
  - name: stand-in
    provider: openai
    model: stand-in
    apiKey: none
    apiBase: ${model}/v1
    capabilities: [tool_use]
    roles: [chat]
`,
    }),
    ask: ['-p', '--auto', PROMPT],
  },
  {
    client: 'droid',
    package: 'droid',
    bin: '.bin/droid',
    env: () => ({ FACTORY_API_KEY: 'fk-none', FACTORY_DISABLE_AUTO_UPDATE: '1' }),
    files: ({ model }) => ({
      '.factory/settings.json': json({
        customModels: [
          {
            model: 'stand-in',
            displayName: 'stand-in',
            baseUrl: `${model}/v1`,
            apiKey: 'none',
            provider: 'generic-chat-completion-api',
            maxOutputTokens: 1000,
          },
        ],
      }),
    }),
    list: ['mcp', 'list'],
    listed: /toolherd.*connected/i,
    ask: ['exec', '--auto', 'high', '-m', 'custom:stand-in-0', PROMPT],
  },
  {
    client: 'grok',
    package: '@xai-official/grok',
    bin: '.bin/grok',
    env: () => ({ GROK_TELEMETRY_ENABLED: '0', DISABLE_TELEMETRY: '1', GROK_ERROR_REPORTING: '0' }),
    files: ({ model }) => ({
      '.grok/config.toml': `[cli]
auto_update = false

[models]
default = "stand-in"

[model.stand-in] # mine
model = "stand-in"
base_url = "${model}/v1"
api_key = "none"
name = "stand-in"

[marketplace] # grok adds this at its first run
default_skills_installs_purged = true
`,
    }),
    list: ['mcp', 'doctor'],
    listed: /\d+ tools discovered/,
    ask: ['-p', PROMPT, '--always-approve', '-m', 'stand-in'],
  },
  {
    client: 'goose',
    package: '@aaif/goose',
    bin: '@aaif/goose-binary-linux-x64/bin/goose',
    env: ({ model }) => ({ OPENAI_HOST: model, OPENAI_API_KEY: 'none', GOOSE_DISABLE_KEYRING: '1' }),
    files: () => ({
      '.config/goose/config.yaml': `# mine
GOOSE_PROVIDER: openai
GOOSE_MODEL: stand-in
GOOSE_MODE: auto
GOOSE_TELEMETRY_ENABLED: false
extensions:
  todo:
    enabled: false
    type: platform
    name: todo
    description: ''
`,
    }),
    ask: ['run', '--no-session', '-t', PROMPT],
  },
  {
    client: 'auggie',
    package: '@augmentcode/auggie',
    bin: '.bin/auggie',
    list: ['mcp', 'list'],
    listed: /toolherd/,
    connects: false,
    unasked: 'it wants an account',
  },
  {
    client: 'amp',
    package: '@sourcegraph/amp',
    bin: '.bin/amp',
    list: ['mcp', 'list'],
    listed: /toolherd/,
    connects: false,
    unasked: 'it wants an account',
  },
];

/**
 * The command of a program that was installed into `folder`.
 * @param {Program} program
 * @param {string} folder
 */
export function commandOf({ bin }, folder) {
  return join(folder, 'node_modules', bin);
}
