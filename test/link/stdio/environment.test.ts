import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childEnvironment, withheldVariables } from '../../../src/link/stdio/environment.js';
import { openLink, specOf } from '../support.js';

const daemon = {
  HOME: '/home/me',
  PATH: '/bin',
  LANG: 'C.UTF-8',
  LC_ALL: 'C',
  TZ: 'UTC',
  https_proxy: 'http://proxy',
  NO_PROXY: 'localhost',
  AWS_SECRET_ACCESS_KEY: 'canary',
  NODE_OPTIONS: '--inspect',
  SHELL: '() { :; }; echo bad',
  USER: undefined,
};

describe('the environment of a child', () => {
  it('has the needed variables of the daemon, the declared ones, and a cookie (FR-008)', () => {
    const env = childEnvironment(daemon, { env: { TOKEN: 't', PATH: '/mine' }, config: undefined }, 'id:1');
    expect(env).toEqual({
      HOME: '/home/me',
      PATH: '/mine',
      LANG: 'C.UTF-8',
      LC_ALL: 'C',
      TZ: 'UTC',
      https_proxy: 'http://proxy',
      NO_PROXY: 'localhost',
      TOKEN: 't',
      TOOLHERD_COOKIE: 'id:1',
    });
  });

  it('holds the configuration as JSON, unless MCP_CONFIG was declared (FR-011)', () => {
    const config = { deep: [1, { a: 'ä' }] };
    expect(JSON.parse(childEnvironment({}, { env: {}, config }, 'c').MCP_CONFIG ?? '')).toEqual(config);
    expect(childEnvironment({}, { env: { MCP_CONFIG: 'own' }, config }, 'c').MCP_CONFIG).toBe('own');
  });

  const nothing = { env: {}, config: undefined };

  it.each([
    [
      'certificates',
      ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'],
    ],
    [
      'npm',
      [
        'npm_config_registry',
        'NPM_CONFIG_CAFILE',
        'npm_config_https-proxy',
        'NPM_CONFIG_NOPROXY',
        'npm_config_strict_ssl',
      ],
    ],
    ['npm, of a scope', ['npm_config_@acme:registry', 'NPM_CONFIG_@ACME:REGISTRY']],
    ['npm, its files', ['npm_config_cache', 'npm_config_userconfig', 'npm_config_fetch_retries']],
    ['uv and pip', ['UV_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_NATIVE_TLS', 'PIP_INDEX_URL']],
    ['docker', ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG']],
  ])('has what programs need to reach their registry: %s', (_, names) => {
    const given = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
    expect(childEnvironment(given, nothing, 'c')).toMatchObject(given);
    expect(withheldVariables(given)).toEqual([]);
  });

  it.each([
    'npm_config__authToken',
    'npm_config_//registry.example/:_authToken',
    'NPM_CONFIG__AUTH',
    'npm_config__password',
    'npm_config_node_options',
    'npm_config_script_shell',
    'npm_config_otp',
    'NPM_TOKEN',
    'NODE_AUTH_TOKEN',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'UV_INDEX_ACME_PASSWORD',
    'UV_PYTHON',
    'UV_PUBLISH_TOKEN',
    'DOCKER_AUTH_CONFIG',
    'PYTHONPATH',
  ])('has no credentials, and nothing that makes programs run other code: %s', (name) => {
    expect(childEnvironment({ [name]: 'canary' }, nothing, 'c')).not.toHaveProperty([name]);
  });

  it.each([
    ['npm_config_registry', 'https://me:canary@npm.example/'],
    ['npm_config_registry', 'https://canary@npm.example/'],
    ['npm_config_registry', 'https://me:can/ary@npm.example/'],
    ['UV_INDEX', 'one=https://one.example two=https://me:canary@two.example'],
    ['PIP_INDEX_URL', 'https://pypi.example/simple?token=canary'],
    ['DOCKER_HOST', 'ssh://me:canary@build.example'],
  ])('lacks a url with credentials, and it is known which: %s=%s', (name, value) => {
    expect(childEnvironment({ [name]: value }, nothing, 'c')).not.toHaveProperty([name]);
    expect(withheldVariables({ [name]: value })).toEqual([name]);
  });

  it('has a url whose user is no secret', () => {
    const env = {
      DOCKER_HOST: 'ssh://me@build.example',
      npm_config_registry: 'https://npm.example:443/a@b/',
    };
    expect(childEnvironment(env, nothing, 'c')).toMatchObject(env);
  });

  it('finds programs beside our own Node, after all others', () => {
    const folder = dirname(process.execPath);
    const pathOf = (PATH?: string) => childEnvironment({ PATH }, nothing, 'c').PATH;
    expect(pathOf('/a:/b')).toBe(`/a:/b:${folder}`);
    expect(pathOf(`/a:${folder}:/b`)).toBe(`/a:${folder}:/b`);
    expect(pathOf('')).toBe(folder);
    expect(pathOf()).toMatch(/^\/usr\/local\/bin:\/bin:\/usr\/bin/);
    expect(childEnvironment({}, { env: { PATH: '/mine' }, config: undefined }, 'c').PATH).toBe('/mine');
  });

  it('takes no cookie from the config', () => {
    const spec = { env: { TOOLHERD_COOKIE: 'forged' }, config: undefined };
    expect(childEnvironment({ TOOLHERD_COOKIE: 'old' }, spec, 'right').TOOLHERD_COOKIE).toBe('right');
  });

  it('reaches the real process, and nothing else does (FR-008, X1)', async () => {
    const { tool, table } = openLink(specOf('good.mjs', { env: { DECLARED: 'yes' } }), { env: daemon });
    const env = JSON.parse(await tool('env'));
    expect(env).toMatchObject({ DECLARED: 'yes', TOOLHERD_COOKIE: table.list()[0]?.cookie });
    expect(env.TOOLHERD_COOKIE).toMatch(new RegExp(`^${table.daemonId}:[0-9a-f]{24}$`));
    expect(Object.keys(env)).not.toContain('AWS_SECRET_ACCESS_KEY');
    expect(Object.keys(env)).not.toContain('NODE_OPTIONS');
    // this process has it, the daemon's environment above has not
    expect(process.env.VITEST).toBeDefined();
    expect(Object.keys(env)).not.toContain('VITEST');
  });
});
