import { describe, expect, it } from 'vitest';
import { influenceOf } from '../../src/packages/influence.js';

const env = { PATH: process.env.PATH ?? '', HOME: '/home/me' };
const of = (declared: Record<string, string>, more: Record<string, string> = {}, runsScripts = true) =>
  influenceOf({ ...env, ...more }, declared, runsScripts);

describe('what keeps installations apart', () => {
  it.each([
    [{ npm_config_registry: 'https://a.example' }],
    [{ 'NPM_CONFIG_@s:registry': 'https://a.example' }],
    [{ HOME: '/other' }],
    [{ HTTPS_PROXY: 'http://a.example' }],
    [{ NODE_OPTIONS: '--x' }],
  ])('a declared variable that changes what is installed keeps installations apart: %o', (declared) =>
    expect(of(declared)).not.toBe(of({})),
  );

  it('an installation without install scripts is kept apart', () =>
    expect(of({}, {}, false)).not.toBe(of({})));

  it.each([
    [{ API_KEY: 'renewed every day' }],
    [{ npm_config_cache: '/else' }],
    [{ npm_config_loglevel: 'silly' }],
  ])('a declared variable that changes nothing keeps nothing apart: %o', (declared) =>
    expect(of(declared)).toBe(of({})),
  );

  it('a daemon with another registry or proxy in its environment finds its packages', () => {
    const more = { npm_config_registry: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://a.example' };
    expect(of({}, more)).toBe(of({}));
  });

  it('one variable in two spellings and orders is the same', () => {
    const one = of({ npm_config_registry: 'x', npm_config_omit: 'dev' });
    expect(of({ NPM_CONFIG_OMIT: 'dev', 'npm-config-registry': 'x' })).toBe(one);
  });
});
