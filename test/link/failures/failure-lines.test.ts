import { describe, expect, it } from 'vitest';
import { failureLines } from '../../../src/link/failures/failure-lines.js';
import { fastestOf } from '../../support/fastest-of.js';
import { NOISE_MS } from '../../support/noise.js';

const shown = (output: string) => failureLines(output).shown.split('\n');

describe('the last lines of an output', () => {
  it('are those that look like errors, not the lines of npm after them', () => {
    const noise = Array.from({ length: 20 }, (_, index) => `fetching ${index}`).join('\n');
    expect(
      shown(`Error: no key\n${noise}\nnpm error A complete log of this run can be found in: /x`),
    ).toEqual(['Error: no key', 'fetching 16', 'fetching 17', 'fetching 18', 'fetching 19']);
  });

  it('are the error of an exception without its frames: Node, Python', () => {
    expect(
      shown('/x/y.mjs:3\nthrow new Error("a");\n^\n\nError: a\n    at /x/y.mjs:3:7\n\nNode.js v20.20.2\n'),
    ).toEqual(['Error: a']);
    expect(
      shown(
        'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    raise E()\nValueError: b\n',
      ),
    ).toEqual(['ValueError: b']);
    expect(
      shown('Traceback (most recent call last):\n  File "<frozen os>", line 679\nKeyError: \'K\'\n'),
    ).toEqual(["KeyError: 'K'"]);
  });

  it('keep lines that a server indents', () => {
    expect(shown('Error: no key. Put this into your config:\n    LEVEL: abc\n')).toEqual([
      'Error: no key. Put this into your config:',
      '    LEVEL: abc',
    ]);
  });

  it('have no control characters and no colours', () => {
    expect(shown('\u001B[1;31mError\u001B[0m:\u0007 a\u202Eb\r\n\u001B]0;title\u0007done')).toEqual([
      'Error:  a b',
      'done',
    ]);
  });

  it('have no credentials in their urls', () => {
    expect(shown('failed: GET https://me:canary@h/x?token=canary')).toEqual([
      'failed: GET https://[hidden]@h/x?token=[hidden]',
    ]);
  });

  it.each([
    ['node: bad option: --api-key=canary', 'node: bad option: --api-key=[hidden]'],
    ['connecting with {"apiKey":"canary"}', 'connecting with {"apiKey":"[hidden]"}'],
    ['using token: c4nary of me', 'using token: [hidden] of me'],
    ['password: canary', 'password: [hidden]'],
    ['Authorization: Basic canary', 'Authorization: [hidden]'],
    ['sent Bearer canary', 'sent Bearer [hidden]'],
    ['key AKIAIOSFODNN7EXAMPLE1 refused', 'key [hidden] refused'],
  ])('have no secrets that their form gives away: %s', (line, safe) => {
    expect(shown(line)).toEqual([safe]);
  });

  it.each([
    'Basic usage: server --token TOKEN',
    'AuthenticationError: invalid request',
    'Invalid API key: please set API_KEY',
    'GITHUB_TOKEN: not set',
    'missing --api-key option',
    'at /app/src/session.js:12:5 token expired',
    'a Bearer token is required',
    'author: me',
  ])('keep their words where those are no secret: %s', (line) => {
    expect(shown(line)).toEqual([line]);
  });

  it('are redacted as they are shown: no colour divides a secret', () => {
    const redact = (text: string) => text.replaceAll('supersecretvalue', '[redacted:KEY]');
    expect(failureLines('bad super\u001B[0msecretvalue', redact).shown).toBe('bad [redacted:KEY]');
  });

  it('do not end in half a secret where a line is too long to match', () => {
    const line = `${'sk-0123456789abcdef '.repeat(49)}postgres://me:${'canary'.repeat(20)}@h`;
    expect(failureLines(line).shown).not.toContain('can');
  });

  it('are bounded', () => {
    const lines = shown(Array.from({ length: 50 }, () => `Error: ${'x'.repeat(5000)}`).join('\n'));
    expect(lines.join('\n').length).toBeLessThanOrEqual(600);
    expect(lines.every((line) => line.length <= 200)).toBe(true);
  });

  it.each([
    'a.',
    'a://',
    'x://a:',
    '   at ((',
    'Bearer ',
    'set ',
    'A_',
    'npm error ',
    '\u001B[',
    '\u001B]0;',
    ' ',
  ])('are found quickly in any output: %j, many times', (piece) => {
    const startedAt = performance.now();
    failureLines(piece.repeat(16_384 / piece.length));
    expect(performance.now() - startedAt).toBeLessThan(100 + NOISE_MS);
  });

  it('are found quickly in an escape sequence that does not end', () => {
    const output = `\u001B${';?'.repeat(16_384)}`;
    expect(fastestOf(5, () => failureLines(output))).toBeLessThan(200);
  });

  it('are noise if there is nothing else, and empty without output', () => {
    expect(shown('Node.js v20.20.2\n')).toEqual(['Node.js v20.20.2']);
    expect(failureLines('\n \n')).toEqual({ text: '', lastError: '', shown: '', onlyNoise: true });
  });

  it.each([
    ['', true],
    ['npm warn deprecated a@1: no longer kept\nnpm notice new version\n', true],
    ['npm warn deprecated a@1: no longer kept\nthe disk is full\n', false],
  ])('show whether one of them explains the failure: %j', (output, onlyNoise) => {
    expect(failureLines(output)).toMatchObject({ onlyNoise });
  });
});
