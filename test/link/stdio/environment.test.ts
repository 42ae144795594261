import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../../src/link/stdio/environment.js';
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
  it('is what it needs of the daemon, what was declared, and a cookie (FR-008)', () => {
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

  it('lets nobody choose the cookie', () => {
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
