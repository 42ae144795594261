import { describe, expect, it } from 'vitest';
import { loadGlobal, makeHerd, problemsOf } from './support.js';

const KEY = 'sk-very-secret-0123456789';
const config = (embeddings: string) => `version: "1.0"\nsearch:\n  embeddings: ${embeddings}\n`;
const load = (embeddings: string, env: Record<string, string> = {}) =>
  loadGlobal(config(embeddings), { env });

describe('search.embeddings', () => {
  it('is off by default', async () => {
    expect((await loadGlobal('version: "1.0"\nsearch: {}\n')).settings.search).toEqual({
      embeddings: undefined,
    });
  });

  it('has its variables expanded; its key is a secret of the herd', async () => {
    const { settings, redactor, uses } = await load(
      '{url: "https://${HOST}/v1", model: "${MODEL:-small}", key: "${THE_KEY}"}',
      { HOST: 'example.com', THE_KEY: KEY },
    );
    expect(settings.search.embeddings).toEqual({ url: 'https://example.com/v1', model: 'small', key: KEY });
    expect(redactor.redact(`Bearer ${KEY}`)).not.toContain(KEY);
    expect(uses.map(({ name }) => name).sort()).toEqual(['HOST', 'MODEL', 'THE_KEY']);
  });

  it('has no key where its variable is empty', async () => {
    const { settings } = await load('{url: "https://example.com", model: "${NO:-}", key: "${EMPTY}"}', {
      EMPTY: '',
    });
    expect(settings.search.embeddings).toEqual({
      url: 'https://example.com',
      model: undefined,
      key: undefined,
    });
  });

  it('has a plain key and a secret parameter of its url redacted too', async () => {
    const { redactor } = await load(`{url: "https://example.com/?api_key=${KEY}x", key: ${KEY}}`);
    expect(redactor.redact(`${KEY}x and ${KEY}`)).not.toContain(KEY);
  });

  it.each([
    ['{url: "http://example.com/v1"}', 'search.embeddings.url', 'must use https://'],
    ['{url: nonsense}', 'search.embeddings.url', 'must use https://'],
    [`{url: "https://me:${KEY}@example.com"}`, 'search.embeddings.url', 'user name or a password'],
    ['{url: "https://example.com", key: "${TORN}"}', 'search.embeddings.key', 'line breaks'],
    ['{url: "https://example.com", key: "${UNSET}"}', 'search.embeddings.key', "variable 'UNSET' not found"],
    ['{url: "https://example.com", key: "${}"}', 'search.embeddings.key', 'malformed'],
    ['{model: small}', 'search.embeddings', 'url'],
    ['{url: "https://example.com", modell: small}', 'search.embeddings', 'modell'],
    ['https://example.com', 'search.embeddings', 'map'],
  ])('is refused: %s', async (embeddings, path, says) => {
    const problems = await problemsOf({ config: config(embeddings), env: { TORN: `${KEY}\n` } });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({
      path: expect.stringContaining(path),
      message: expect.stringContaining(says),
    });
    expect(JSON.stringify(problems)).not.toContain(KEY);
  });

  it('may use plain http where security.allow_http names the host, and on this machine', async () => {
    const text = `${config('{url: "http://models.lan:1234/v1"}')}security: {allow_http: [models.lan]}\n`;
    expect((await loadGlobal(text)).settings.search.embeddings?.url).toBe('http://models.lan:1234/v1');
    expect((await load('{url: "http://localhost:11434/v1"}')).settings.search.embeddings).toBeDefined();
  });

  it('is off in a daemon that lacks its variable, which is a warning: the herd runs', async () => {
    const herd = makeHerd({ config: config('{url: "https://example.com", key: "${UNSET}"}') });
    const { settings, warnings } = await herd.load({ reader: 'daemon' });
    expect(settings.search.embeddings).toBeUndefined();
    expect(warnings).toMatchObject([
      { path: 'search.embeddings.key', message: "Environment variable 'UNSET' not found" },
    ]);
  });
});
