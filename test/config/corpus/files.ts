import { stdioAgent } from '../support.js';
import type { Malformed } from './definition.js';

const settings = (text: string) => `version: "1.0"\n${text}\n`;

/** The files as a whole, and the settings of the global one. */
export const FILES: Malformed[] = [
  { name: 'a list for an agent file', agent: '‸- a\n- b\n', path: '', says: 'The file must be a map' },
  { name: 'a text for an agent file', agent: '‸hello\n', path: '', says: 'The file must be a map' },
  { name: 'a number for a config file', config: '‸5\n', path: '', says: 'The file must be a map' },
  {
    name: 'tools as a map',
    agent: 'tools: ‸{a: {type: mcp}}\n',
    path: 'tools',
    says: "'tools' must be a list",
  },
  {
    name: 'tools as a text',
    agent: 'name: x\ntools: ‸none\n',
    path: 'tools',
    says: "'tools' must be a list",
  },
  {
    name: 'mcp_servers as a map',
    config: settings('mcp_servers:\n  ‸a: {server: s}'),
    path: 'mcp_servers',
    says: "'mcp_servers' must be a list",
  },
  {
    name: 'a text among mcp_servers',
    config: settings('mcp_servers:\n  - ‸github'),
    path: 'mcp_servers[0]',
    says: 'An entry must be a map',
  },
  {
    name: 'nothing among mcp_servers',
    config: settings('mcp_servers:\n  - ‸~'),
    path: 'mcp_servers[0]',
    says: 'An entry must be a map',
  },
  {
    name: 'a list among mcp_servers',
    config: settings('mcp_servers: [‸[a]]'),
    path: 'mcp_servers[0]',
    says: 'An entry must be a map',
  },
  {
    name: 'a misspelled key of the config',
    config: settings('‸mcp_server: []'),
    path: 'mcp_server',
    says: "Unknown key 'mcp_server'",
    fix: "did you mean 'mcp_servers'?",
  },
  {
    name: 'a key that the config does not have',
    config: settings('‸providers: {}'),
    path: 'providers',
    says: "Unknown key 'providers'",
  },
  { name: 'tools in the config', config: settings('‸tools: []'), path: 'tools', says: "Unknown key 'tools'" },
  {
    name: '__proto__ as a key of the config',
    config: settings('‸__proto__: {security: {trust: all}}'),
    path: '__proto__',
    says: "Unknown key '__proto__'",
  },
  { name: 'another version', config: 'version: ‸"2.0"\n', path: 'version', says: 'must be "1.0"' },
  { name: 'another version as a number', config: 'version: ‸1.1\n', path: 'version', says: 'must be "1.0"' },
  { name: 'a flag for a version', config: 'version: ‸true\n', path: 'version', says: 'must be "1.0"' },
  { name: 'daemon as a list', config: settings('daemon: ‸[a]'), path: 'daemon', says: 'must be a map' },
  {
    name: 'an unknown key of daemon',
    config: settings('daemon: {‸log_levle: info}'),
    path: 'daemon.log_levle',
    says: "Unknown field 'log_levle'",
    fix: "did you mean 'log_level'?",
  },
  {
    name: 'http as a port',
    config: settings('daemon: {http: ‸8080}'),
    path: 'daemon.http',
    says: "'http' must be a map",
  },
  {
    name: 'http without listen',
    config: settings('daemon: {http: ‸{token: auto}}'),
    path: 'daemon.http.listen',
    says: "'http.listen' is required",
  },
  {
    name: 'http on every address',
    config: settings('daemon: {http: {listen: ‸"0.0.0.0:8080"}}'),
    path: 'daemon.http.listen',
    says: 'must be a loopback address',
  },
  {
    name: 'http on a host of the network',
    config: settings('daemon: {http: {listen: ‸"192.168.1.2:8080"}}'),
    path: 'daemon.http.listen',
    says: 'must be a loopback address',
  },
  {
    name: 'http without a port',
    config: settings('daemon: {http: {listen: ‸127.0.0.1}}'),
    path: 'daemon.http.listen',
    says: 'must be a loopback address with a port',
  },
  {
    name: 'http on a port that is none',
    config: settings('daemon: {http: {listen: ‸"127.0.0.1:70000"}}'),
    path: 'daemon.http.listen',
    says: 'must be a loopback address with a port',
  },
  {
    name: 'a token that the user chose',
    config: settings('daemon: {http: {listen: "127.0.0.1:1", token: ‸abc}}'),
    path: 'daemon.http.token',
    says: 'one of auto, none',
  },
  {
    name: 'an unknown part of http',
    config: settings('daemon: {http: {listen: "127.0.0.1:1", ‸tokn: auto}}'),
    path: 'daemon.http.tokn',
    says: "Unknown field 'tokn'",
    fix: "did you mean 'token'?",
  },
  {
    name: 'a registry over plain http',
    config: settings('daemon: {registry: ‸"http://example.com"}'),
    path: 'daemon.registry',
    says: "'daemon.registry' must use https://",
  },
  {
    name: 'a registry that is no url',
    config: settings('daemon: {registry: ‸example}'),
    path: 'daemon.registry',
    says: "'daemon.registry' must use https://",
  },
  {
    name: 'an unknown log level',
    config: settings('daemon: {log_level: ‸wran}'),
    path: 'daemon.log_level',
    says: "'log_level' must be one of",
    fix: "did you mean 'warn'?",
  },
  {
    name: 'logs of no bytes',
    config: settings('daemon: {log_max_bytes: ‸0}'),
    path: 'daemon.log_max_bytes',
    says: 'a whole number of bytes',
  },
  {
    name: 'nothing may start',
    config: settings('daemon: {max_starting: ‸0}'),
    path: 'daemon.max_starting',
    says: 'a whole number from 1',
  },
  {
    name: 'a fleet budget with a unit',
    config: settings('daemon: {max_rss: ‸2GB}'),
    path: 'daemon.max_rss',
    says: 'a whole number of bytes',
  },
  {
    name: 'security as a text',
    config: settings('security: ‸strict'),
    path: 'security',
    says: 'must be a map',
  },
  {
    name: 'an unknown key of security',
    config: settings('security: {‸allowed_comands: [a]}'),
    path: 'security.allowed_comands',
    says: "Unknown field 'allowed_comands'",
    fix: "did you mean 'allowed_commands'?",
  },
  {
    name: 'allowed_commands as a text',
    config: settings('security: {allowed_commands: ‸deno}'),
    path: 'security.allowed_commands',
    says: 'a list of non-empty texts',
  },
  {
    name: 'a number among allowed_commands',
    config: settings('security: {allowed_commands: [deno, ‸5]}'),
    path: 'security.allowed_commands[1]',
    says: 'a non-empty text',
  },
  {
    name: 'an empty host',
    config: settings('security: {allow_http: [‸""]}'),
    path: 'security.allow_http[0]',
    says: 'a non-empty text',
  },
  {
    name: 'an unknown trust',
    config: settings('security: {trust: ‸none}'),
    path: 'security.trust',
    says: "'trust' must be one of ask, all",
  },
  {
    name: 'an unknown pin',
    config: settings('security: {pin: ‸on}'),
    path: 'security.pin',
    says: "'pin' must be one of off, warn, enforce",
  },
  {
    name: 'an unknown sampling',
    config: settings('security: {sampling: ‸allow}'),
    path: 'security.sampling',
    says: "'sampling' must be one of ask-agent, deny",
  },
  {
    name: 'a flag for elicitation',
    config: settings('security: {elicitation: ‸false}'),
    path: 'security.elicitation',
    says: "'elicitation' must be one of ask-agent, deny",
  },
];

/** Texts that are not valid YAML, or exceed a limit. */
export const SYNTAX: Malformed[] = [
  { name: 'a tab as indentation', agent: 'tools:\n‸\t- name: a\n', path: '', says: 'Tabs cannot be used' },
  {
    name: 'a string that does not end',
    agent: 'tools:\n  - name: "a\n    type: mcp\n‸',
    path: '',
    says: 'Not valid YAML',
  },
  { name: 'a list that does not end', agent: 'tools: [{type: mcp}\n‸', path: '', says: 'Not valid YAML' },
  {
    name: 'a line that is indented too little',
    agent: 'tools:\n  - name: a\n‸   type: mcp\n',
    path: '',
    says: 'Not valid YAML',
  },
  { name: 'one key twice', agent: stdioAgent('‸command: uvx'), path: '', says: 'Duplicate key' },
  {
    name: 'one section twice',
    config: 'version: "1.0"\nsecurity: {}\n‸security: {trust: all}\n',
    path: '',
    says: 'Duplicate key',
  },
  { name: 'an alias of nothing', agent: 'tools: ‸*mine\n', path: '', says: 'has no anchor' },
  { name: 'two documents', agent: 'tools: []\n‸---\ntools: []\n', path: '', says: 'more than one document' },
  { name: 'an unknown escape', agent: 'tools:\n  - name: "a‸\\qb"\n', path: '', says: 'unknown \\ escape' },
  {
    name: 'a value that begins with @',
    agent: 'tools:\n  - server: ‸@scope/name\n',
    path: '',
    says: 'cannot start with this character',
  },
  { name: 'a list for a key', agent: '? ‸[a, b]\n: c\n', path: '', says: 'A key must be a plain name' },
  { name: 'a merge of a text', agent: 'a: ‸{<<: text}\n', path: '', says: "'<<' needs a map" },
  { name: 'a bracket too many', agent: 'tools: []‸]\n', path: '', says: 'Not valid YAML' },
];

const source = (...lines: string[]) => `version: "1.0"\nmcp_servers:\n  - ${lines.join('\n    ')}\n`;

/** Source documents, in the global config. */
export const SOURCES: Malformed[] = [
  {
    name: 'another source type',
    config: source('name: a', 'source_type: ‸openapi', 'mcp_server_url: https://a.b'),
    path: 'mcp_servers[0].source_type',
    says: "'source_type' must be one of mcp",
  },
  {
    name: 'a source without a name',
    config: source('‸source_type: mcp', 'mcp_server_url: https://a.b'),
    path: 'mcp_servers[0].name',
    says: "'name' is required",
  },
  {
    name: 'a source of both kinds',
    config: source('‸name: a', 'source_type: mcp', 'mcp_plugin_dir: p', 'mcp_server_url: https://a.b'),
    path: 'mcp_servers[0]',
    says: "either 'mcp_plugin_dir' or 'mcp_server_url'",
  },
  {
    name: 'a source of neither kind',
    config: source('‸name: a', 'url: mcp://a', 'source_type: mcp'),
    path: 'mcp_servers[0]',
    says: "either 'mcp_plugin_dir' or 'mcp_server_url'",
  },
  {
    name: 'sse for a local plugin',
    config: source('name: a', 'source_type: mcp', 'mcp_plugin_dir: p', '‸mcp_transport_type: sse'),
    path: 'mcp_servers[0].mcp_transport_type',
    says: 'not supported for a local plugin',
  },
  {
    name: 'stdio for a remote source',
    config: source(
      'name: a',
      'source_type: mcp',
      'mcp_server_url: https://a.b',
      '‸mcp_transport_type: stdio',
    ),
    path: 'mcp_servers[0].mcp_transport_type',
    says: 'must be streamable_http',
  },
  {
    name: 'a command for a remote source',
    config: source('name: a', 'source_type: mcp', 'mcp_server_url: https://a.b', '‸mcp_command: npx'),
    path: 'mcp_servers[0].mcp_command',
    says: 'does not belong to a remote source',
  },
  {
    name: 'an unknown runtime',
    config: source('name: a', 'source_type: mcp', 'mcp_plugin_dir: p', 'mcp_runtime_hint: ‸ruby'),
    path: 'mcp_servers[0].mcp_runtime_hint',
    says: "'mcp_runtime_hint' must be one of uvx, npx, python, node, docker",
  },
  {
    name: 'an unknown lifecycle',
    config: source('name: a', 'source_type: mcp', 'mcp_plugin_dir: p', 'mcp_lifecycle_mode: ‸pooled'),
    path: 'mcp_servers[0].mcp_lifecycle_mode',
    says: "'mcp_lifecycle_mode' must be one of transient, singleton",
  },
  {
    name: 'a misspelled field',
    config: source('name: a', 'source_type: mcp', 'mcp_plugin_dir: p', '‸mcp_envvars: {}'),
    path: 'mcp_servers[0].mcp_envvars',
    says: "Unknown field 'mcp_envvars'",
    fix: "did you mean 'mcp_env_vars'?",
  },
  {
    name: 'a field of an entry',
    config: source('name: a', 'source_type: mcp', 'mcp_plugin_dir: p', '‸request_timeout: 5'),
    path: 'mcp_servers[0].request_timeout',
    says: "Unknown field 'request_timeout'",
  },
  {
    name: 'args as a text',
    config: source('name: a', 'source_type: mcp', 'mcp_plugin_dir: p', 'mcp_args: ‸-v'),
    path: 'mcp_servers[0].mcp_args',
    says: 'a list of texts',
  },
  {
    name: 'a number among the variables',
    config: source('name: a', 'source_type: mcp', 'mcp_plugin_dir: p', 'mcp_env_vars: {A: ‸5}'),
    path: 'mcp_servers[0].mcp_env_vars.A',
    says: 'must be a text',
  },
  {
    name: 'plain http to another machine',
    config: source('name: a', 'source_type: mcp', 'mcp_server_url: ‸http://a.b'),
    path: 'mcp_servers[0].mcp_server_url',
    says: "'url' must use https:// (or http:// for localhost)",
  },
  {
    name: 'a plugin folder that is not there',
    config: source('name: a', 'source_type: mcp', 'mcp_plugin_dir: ‸p'),
    path: 'mcp_servers[0].mcp_plugin_dir',
    says: 'does not exist',
  },
];
