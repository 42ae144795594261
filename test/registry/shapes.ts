import type { Published } from './server.js';

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
const stdio = { type: 'stdio' };

/** Servers in the forms that occur in the registry. */
export const context7: Published = {
  server: {
    $schema: SCHEMA,
    name: 'io.github.upstash/context7',
    title: 'Context7',
    description: 'Up-to-date code docs for any prompt',
    version: '1.0.31',
    repository: { url: 'https://github.com/upstash/context7', source: 'github' },
    websiteUrl: 'https://context7.com',
    packages: [
      {
        registryType: 'npm',
        identifier: '@upstash/context7-mcp',
        version: '1.0.31',
        transport: stdio,
        environmentVariables: [
          { name: 'CONTEXT7_API_KEY', description: 'API key for authentication', isSecret: true },
        ],
      },
    ],
    remotes: [{ type: 'streamable-http', url: 'https://mcp.context7.com/mcp' }],
  },
};

export const neo4j: Published = {
  server: {
    $schema: SCHEMA,
    name: 'io.github.neo4j-contrib/mcp-neo4j-cypher',
    description: 'Cypher for Neo4j',
    version: '0.5.1',
    packages: [
      {
        registryType: 'pypi',
        identifier: 'mcp-neo4j-cypher',
        version: '0.5.1',
        runtimeHint: 'uvx',
        transport: stdio,
        environmentVariables: [
          { name: 'NEO4J_URI', description: 'Where the database is', isRequired: true },
          { name: 'NEO4J_USERNAME', description: 'Who asks', isRequired: true },
          { name: 'NEO4J_PASSWORD', description: 'Password', isRequired: true, isSecret: true },
          { name: 'NEO4J_DATABASE', default: 'neo4j' },
        ],
      },
    ],
  },
};

export const github: Published = {
  server: {
    $schema: SCHEMA,
    name: 'io.github.github/github-mcp-server',
    description: 'GitHub for agents',
    version: '0.20.1',
    packages: [
      {
        registryType: 'oci',
        identifier: 'images.example/github/github-mcp-server:0.20.1',
        transport: stdio,
        runtimeArguments: [
          {
            type: 'named',
            name: '-e',
            description: 'The token',
            value: 'GITHUB_PERSONAL_ACCESS_TOKEN={token}',
            isRequired: true,
            variables: { token: { description: 'A token of GitHub', isRequired: true, isSecret: true } },
          },
        ],
      },
    ],
    remotes: [
      {
        type: 'streamable-http',
        url: 'https://api.githubcopilot.com/mcp/',
        headers: [
          {
            name: 'Authorization',
            value: 'Bearer {token}',
            isRequired: true,
            isSecret: true,
            description: 'A token',
          },
        ],
      },
    ],
  },
};

/** Its arguments already have the docker flags. */
export const doubled: Published = {
  server: {
    name: 'com.example/doubled',
    description: 'Says run itself',
    version: '2.0.0',
    packages: [
      {
        registryType: 'oci',
        identifier: 'example/doubled:2.0.0',
        transport: stdio,
        runtimeArguments: [
          { type: 'positional', value: 'run' },
          { type: 'named', name: '-i' },
          { type: 'named', name: '--rm', value: '' },
          { type: 'positional', value: 'example/doubled:2.0.0' },
        ],
        environmentVariables: [{ name: 'KEY', isRequired: true }],
      },
    ],
  },
};

export const remoteOnly: Published = {
  server: {
    name: 'com.example/remote-only',
    description: 'Only reached',
    version: '1.2.0',
    remotes: [
      { type: 'sse', url: 'https://{region}.example.com/sse', variables: { region: { default: 'eu' } } },
      {
        type: 'streamable-http',
        url: 'https://example.com/{tenant}/mcp',
        variables: { tenant: { description: 'Your tenant', isRequired: true } },
        headers: [
          { name: 'X-Plain', value: 'costs $5' },
          { name: 'X-Key', isRequired: true, isSecret: true, description: 'Your key' },
          { name: 'X-Optional', description: 'Left out' },
        ],
      },
    ],
  },
};

/** The snake_case form of the first registry. */
export const snakeCase: Published = {
  server: {
    name: 'io.github.old/snake',
    description: 'An older form',
    version: '0.1.0',
    packages: [
      {
        registry_type: 'npm',
        identifier: 'snake-mcp',
        version: '0.1.0',
        transport: stdio,
        environment_variables: [{ name: 'SNAKE_KEY', required: true, description: 'The key' }],
      },
    ],
  },
};

const onlyOf = (registryType: string, more: object = {}): Published => ({
  server: {
    name: `com.example/only-${registryType}`,
    description: `Only ${registryType}`,
    version: '1.0.0',
    packages: [
      { registryType, identifier: `example-${registryType}`, version: '1.0.0', transport: stdio, ...more },
    ],
  },
});

export const nuget = onlyOf('nuget');
export const mcpb = onlyOf('mcpb');
export const cargo = onlyOf('cargo');

export const deleted: Published = { ...onlyOf('npm'), status: 'deleted', statusMessage: 'it was a fraud' };
deleted.server = { ...deleted.server, name: 'com.example/deleted' };
export const deprecated: Published = { ...onlyOf('npm'), status: 'deprecated', statusMessage: 'use another' };
deprecated.server = { ...deprecated.server, name: 'com.example/deprecated' };

/** A plain npm server in any number of versions. */
export function simple(name: string, ...versions: string[]): Published[] {
  return (versions.length === 0 ? ['1.0.0'] : versions).map((version) => ({
    server: {
      name,
      description: `${name} for tests`,
      version,
      packages: [
        { registryType: 'npm', identifier: `@test/${name.split('/')[1]}`, version, transport: stdio },
      ],
    },
  }));
}
