import { describe, expect, it } from 'vitest';
import {
  chooseOption,
  entryOf,
  installOptions,
  type RegistryServer,
  shortNameOf,
} from '../../src/registry/index.js';
import { readServer } from '../../src/registry/read-server.js';
import type { Published } from './server.js';
import * as shapes from './shapes.js';

function read({ server, status }: Published): RegistryServer {
  return readServer({ server, meta: { status } }) as RegistryServer;
}

function entry(published: Published, transport?: 'stdio' | 'http' | 'sse', env: Record<string, string> = {}) {
  const server = read(published);
  const name = shortNameOf(server.name);
  return JSON.parse(JSON.stringify(entryOf(server, chooseOption(server, name, transport), name, env)));
}

function needs(published: Published, transport?: 'stdio' | 'http' | 'sse') {
  const server = read(published);
  return chooseOption(server, shortNameOf(server.name), transport).needs;
}

function pack(more: Record<string, unknown>): Published {
  const [one] = shapes.simple('com.example/pack');
  const packages = [
    { registryType: 'npm', identifier: 'pack', version: '1.0.0', transport: { type: 'stdio' }, ...more },
  ];
  return { server: { ...one!.server, packages } };
}

describe('a package becomes an entry', () => {
  it('npm: npx -y id@version; optional variables may be unset', () => {
    expect(entry(shapes.context7)).toEqual({
      name: 'context7',
      description: 'Up-to-date code docs for any prompt',
      server: '@upstash/context7-mcp',
      transport: 'stdio',
      command: 'npx',
      args: ['-y', '@upstash/context7-mcp@1.0.31'],
      env: { CONTEXT7_API_KEY: '${CONTEXT7_API_KEY:-}' },
      registry_name: 'io.github.upstash/context7',
    });
    expect(needs(shapes.context7)).toEqual([
      {
        name: 'CONTEXT7_API_KEY',
        description: 'API key for authentication',
        isSecret: true,
        isOptional: true,
      },
    ]);
  });

  it('pypi: uvx id==version; a required variable is ${NAME}, a default is kept', () => {
    expect(entry(shapes.neo4j)).toMatchObject({
      command: 'uvx',
      args: ['mcp-neo4j-cypher==0.5.1'],
      server: 'mcp-neo4j-cypher',
      env: {
        NEO4J_URI: '${NEO4J_URI}',
        NEO4J_USERNAME: '${NEO4J_USERNAME}',
        NEO4J_PASSWORD: '${NEO4J_PASSWORD}',
        NEO4J_DATABASE: '${NEO4J_DATABASE:-neo4j}',
      },
    });
    const required = needs(shapes.neo4j).filter(({ isOptional }) => !isOptional);
    expect(required.map(({ name, isSecret }) => [name, isSecret])).toEqual([
      ['NEO4J_URI', false],
      ['NEO4J_USERNAME', false],
      ['NEO4J_PASSWORD', true],
    ]);
  });

  it('oci: docker run -i --rm -e NAME image; a value among the arguments moves to env', () => {
    expect(entry(shapes.github)).toMatchObject({
      command: 'docker',
      args: [
        'run',
        '-i',
        '--rm',
        '-e',
        'GITHUB_PERSONAL_ACCESS_TOKEN',
        'images.example/github/github-mcp-server:0.20.1',
      ],
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: '${GITHUB_PERSONAL_ACCESS_TOKEN}' },
      server: 'images.example/github/github-mcp-server:0.20.1',
    });
    expect(needs(shapes.github)).toEqual([
      {
        name: 'GITHUB_PERSONAL_ACCESS_TOKEN',
        description: 'A token of GitHub',
        isSecret: true,
        isOptional: false,
      },
    ]);
  });

  it('oci: arguments that are already there are not added again', () => {
    expect(entry(shapes.doubled).args).toEqual(['run', '-i', '--rm', '-e', 'KEY', 'example/doubled:2.0.0']);
  });

  it('the older form, in snake_case, means the same', () => {
    expect(entry(shapes.snakeCase)).toMatchObject({
      command: 'npx',
      args: ['-y', 'snake-mcp@0.1.0'],
      env: { SNAKE_KEY: '${SNAKE_KEY}' },
    });
    expect(needs(shapes.snakeCase)).toMatchObject([{ name: 'SNAKE_KEY', isOptional: false }]);
  });

  it('a package of npm without a version is the latest one; a variable in snake_case is required', () => {
    const { server } = shapes.snakeCase;
    const pack = {
      ...{ registry_type: 'npm', identifier: 'snake-mcp', transport: { type: 'stdio' } },
      environment_variables: [{ name: 'KEY' }, { name: 'OTHER', required: false }],
    };
    expect(entry({ server: { ...server, packages: [pack] } })).toMatchObject({
      args: ['-y', 'snake-mcp@latest'],
      env: { KEY: '${KEY}', OTHER: '${OTHER:-}' },
    });
    const packageIn = (fields: object) =>
      entry({ server: { ...server, packages: [{ ...pack, ...fields }] } })?.args?.at(-1);
    expect(packageIn({ version: '' })).toBe('snake-mcp@latest');
    expect(packageIn({ identifier: '@a/b' })).toBe('@a/b@latest');
    expect(packageIn({ identifier: '@a/b@1.0.0' })).toBe('@a/b@1.0.0');
  });

  it('runtime and package arguments are kept, and their variables are required', () => {
    const published = pack({
      runtimeArguments: [{ type: 'named', name: '--prefer-offline', isRequired: true }],
      packageArguments: [
        { type: 'named', name: '--level', value: 'debug' },
        { type: 'positional', valueHint: 'allowed_dir', isRequired: true, description: 'Where it may read' },
        { type: 'positional', valueHint: 'more', description: 'Left out' },
        { type: 'named', name: '--price=', value: '$5' },
      ],
    });
    expect(entry(published).args).toEqual([
      '-y',
      '--prefer-offline',
      'pack@1.0.0',
      '--level',
      'debug',
      '${ALLOWED_DIR}',
      '--price=$$5',
    ]);
    expect(needs(published)).toEqual([
      { name: 'ALLOWED_DIR', description: 'Where it may read', isSecret: false, isOptional: false },
    ]);
  });

  it.each([
    [{ name: 'A', value: 'fixed $1' }, { A: 'fixed $$1' }],
    [{ name: 'A', value: 'key {token}' }, { A: 'key ${TOKEN}' }],
    [{ name: 'A', default: 'a}b$' }, { A: 'a}b$$' }],
    [{ name: 'A-B', isRequired: true }, { 'A-B': '${A_B}' }],
    [{ name: '' }, undefined],
  ])('a variable %o is written as %o', (variable, env) => {
    expect(entry(pack({ environmentVariables: [variable, 'nonsense'] })).env).toEqual(env);
  });

  it('--env adds to the variables of the package and overrides them', () => {
    const env = { NEO4J_URI: 'bolt://db', EXTRA: '${X}' };
    expect(entry(shapes.neo4j, undefined, env).env).toMatchObject({
      NEO4J_USERNAME: '${NEO4J_USERNAME}',
      ...env,
    });
  });

  it('a description is one line of the file', () => {
    const published = shapes.simple('com.example/x')[0]!;
    published.server.description = 'one\n  two\u001B[31m\tthree ';
    expect(entry(published).description).toBe('one two [31m three');
    published.server.description = '🐑'.repeat(100_000);
    expect(entry(published).description).toBe(`${'🐑'.repeat(200)}…`);
    published.server.description = '';
    expect(entry(published).description).toBe('com.example/x');
  });
});

describe('a remote becomes an entry', () => {
  it('a header variable {token} becomes ${<NAME>_TOKEN}', () => {
    expect(entry(shapes.github, 'http')).toEqual({
      name: 'github-mcp-server',
      description: 'GitHub for agents',
      server: 'https://api.githubcopilot.com/mcp/',
      transport: 'http',
      url: 'https://api.githubcopilot.com/mcp/',
      headers: { Authorization: 'Bearer ${GITHUB_MCP_SERVER_TOKEN}' },
      registry_name: 'io.github.github/github-mcp-server',
    });
    expect(needs(shapes.github, 'http')).toEqual([
      { name: 'GITHUB_MCP_SERVER_TOKEN', description: 'A token', isSecret: true, isOptional: false },
    ]);
  });

  it('http is preferred to sse; variables of the url are required; an optional header is left out', () => {
    expect(entry(shapes.remoteOnly)).toMatchObject({
      transport: 'http',
      url: 'https://example.com/${REMOTE_ONLY_TENANT}/mcp',
      headers: { 'X-Plain': 'costs $$5', 'X-Key': '${REMOTE_ONLY_X_KEY}' },
    });
    expect(needs(shapes.remoteOnly).map(({ name }) => name)).toEqual([
      'REMOTE_ONLY_TENANT',
      'REMOTE_ONLY_X_KEY',
    ]);
    expect(entry(shapes.remoteOnly, 'sse')).toMatchObject({
      transport: 'sse',
      url: 'https://${REMOTE_ONLY_REGION:-eu}.example.com/sse',
    });
  });

  it('its variables have the name of the entry as prefix', () => {
    const server = read(shapes.github);
    expect(chooseOption(server, 'work', 'http').fields.headers).toEqual({
      Authorization: 'Bearer ${WORK_TOKEN}',
    });
  });
});

describe('a server that cannot be added', () => {
  it.each([
    [shapes.nuget, 'nuget example-nuget (there is no runner for nuget packages here)'],
    [shapes.mcpb, 'mcpb example-mcpb (there is no runner for mcpb packages here)'],
    [shapes.cargo, 'cargo example-cargo (there is no runner for cargo packages here)'],
    [pack({ transport: undefined }), 'npm pack (it names no transport)'],
    [pack({ identifier: undefined }), 'npm (it has no identifier)'],
    [pack({ identifier: '--call=reboot' }), 'npm --call=reboot (its identifier begins with a dash)'],
    [
      pack({ transport: { type: 'streamable-http', url: 'http://localhost:3000' } }),
      'npm pack (its transport is streamable-http: start it yourself, then: toolherd add NAME --url URL)',
    ],
  ])('is refused with its reasons: %#', (published, why) => {
    expect(() => entry(published)).toThrow(expect.objectContaining({ type: 'RegistryRefusedError', why }));
  });

  it('a deleted server is refused', () => {
    expect(() => entry(shapes.deleted)).toThrow("'com.example/deleted' was deleted from the registry");
  });

  it('the error for a missing transport lists the available ones', () => {
    expect(() => entry(shapes.context7, 'sse')).toThrow(
      expect.objectContaining({
        why: 'it offers stdio, http',
        fix: expect.stringContaining('--transport stdio'),
      }),
    );
  });

  it('a package that cannot be run does not hide one that can', () => {
    const server = read(shapes.context7);
    server.packages.unshift({ registryType: 'nuget', identifier: 'X', transport: { type: 'stdio' } }, {});
    expect(installOptions(server).map(({ kind }) => kind)).toEqual(['nuget', 'unknown', 'npm', 'http']);
    expect(chooseOption(server, 'x', undefined).kind).toBe('npm');
  });
});
