import { describe, expect, it } from 'vitest';
import { failureLines } from '../../../src/link/failures/failure-lines.js';
import { knownCause } from '../../../src/link/failures/known-causes.js';

const origin = { scope: 'global', file: '/c.yaml', line: 1, column: 1 } as const;
const about = { name: 'it', env: { GIVEN_KEY: 'x' }, origin };
const causeOf = (output: string) => knownCause(failureLines(output), about, false);

interface Example {
  what: string;
  /** As the program printed it. */
  output: string;
  why?: string;
  fix: string;
}

const EXAMPLES: readonly Example[] = [
  {
    what: 'npm: no such package',
    output: `npm warn Unknown user config "nodedir". This will stop working in the next major version of npm.
npm error code E404
npm error 404 Not Found - GET https://registry.example/@modelcontextprotocol%2fserver-does-not-exist-xyz
npm error 404
npm error 404  The requested resource '@modelcontextprotocol/server-does-not-exist-xyz@*' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/2026-11-17T22_12_07_823Z-debug-0.log
`,
    why: 'npm found no such package in its registry',
    fix: "correct the package in 'args' of it (/c.yaml); one of another registry needs that registry in ~/.npmrc",
  },
  {
    what: 'npm 8: no such package',
    output: `npm ERR! code E404
npm ERR! 404 Not Found - GET https://registry.example/nosuch - Not found
npm ERR! 404  'nosuch@*' is not in this registry.
`,
    why: 'npm found no such package in its registry',
    fix: "'args'",
  },
  {
    what: 'npm: no such version',
    output: `npm error code ETARGET
npm error notarget No matching version found for @modelcontextprotocol/server-memory@99.0.0.
npm error notarget In most cases you or one of your dependencies are requesting a package version that doesn't exist.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/x-debug-0.log`,
    why: 'the package has no such version',
    fix: 'npm view PACKAGE versions',
  },
  {
    what: "npm: a company's certificate",
    output: `npm error code SELF_SIGNED_CERT_IN_CHAIN
npm error errno SELF_SIGNED_CERT_IN_CHAIN
npm error request to https://registry.example/@modelcontextprotocol%2fserver-memory failed, reason: self-signed certificate in certificate chain
npm error A complete log of this run can be found in: /home/me/.npm/_logs/x-debug-0.log`,
    why: 'npm does not trust the certificate of its registry (SELF_SIGNED_CERT_IN_CHAIN)',
    fix: 'NODE_EXTRA_CA_CERTS',
  },
  {
    what: 'npm: the registry is out of reach',
    output: `npm error code ECONNREFUSED
npm error syscall connect
npm error errno ECONNREFUSED
npm error FetchError: request to http://127.0.0.1:9/nosuchpkg1 failed, reason: connect ECONNREFUSED 127.0.0.1:9
npm error     at ClientRequest.<anonymous> (/usr/lib/node_modules/npm/node_modules/minipass-fetch/lib/index.js:130:14)
npm error   code: 'ECONNREFUSED',
npm error   port: 9,
npm error }
npm error
npm error If you are behind a proxy, please make sure that the 'proxy' config is set properly.  See: 'npm help config'
npm error A complete log of this run can be found in: /home/me/.npm/_logs/x-debug-0.log`,
    why: 'npm cannot reach its registry (ECONNREFUSED)',
    fix: 'HTTPS_PROXY or npm_config_registry',
  },
  {
    what: 'npm: a registry that wants a login',
    output: `npm error code E401
npm error Incorrect or missing password.`,
    why: 'the registry of npm wants a login (E401)',
    fix: 'npm login',
  },
  {
    what: 'npm: a package without a command',
    output: `npm error could not determine executable to run
npm error A complete log of this run can be found in: /home/me/.npm/_logs/x-debug-0.log`,
    why: 'the package has no command, or several',
    fix: '[-y, -p, PACKAGE, COMMAND]',
  },
  {
    what: 'npm: this Node is too old for the package',
    output: `npm error code EBADENGINE
npm error engine Unsupported engine
npm error engine Not compatible with your version of node/npm: x@1.0.0`,
    why: 'the package does not run with this Node',
    fix: 'install a newer Node',
  },
  {
    what: 'npm: a cache that belongs to another user',
    output: `npm error code EACCES
npm error syscall mkdir
npm error Your cache folder contains root-owned files, due to a bug in`,
    why: 'npm may not write to its folders (EACCES)',
    fix: 'npm config get cache',
  },
  {
    what: 'npm: a connection that breaks off',
    output: 'npm error code UND_ERR_SOCKET\nnpm error other side closed',
    why: 'npm cannot reach its registry (UND_ERR_SOCKET)',
    fix: 'check the network with "npm ping"',
  },
  {
    what: 'npm: an install script of the package',
    output:
      'npm error code 1\nnpm error path /x\nnpm error command failed\nnpm error command sh -c node-gyp rebuild',
    why: 'an install script failed with code 1',
    fix: 'install what the script needs, see "toolherd logs it"',
  },
  {
    what: 'npm: any other failure',
    output: 'npm error code EUNSUPPORTEDPROTOCOL\nnpm error Unsupported URL Type "workspace:": workspace:*',
    why: 'npm failed with EUNSUPPORTEDPROTOCOL',
    fix: 'see "toolherd logs it"',
  },
  {
    what: 'npx: the command of a package is not there',
    output: 'sh: 1: nosuchbin: not found\n',
    why: "the program 'nosuchbin' was not found",
    fix: 'install nosuchbin, or run "toolherd up --replace" from a shell whose PATH has it',
  },
  {
    what: 'bash: no such command',
    output: 'bash: line 1: uvx: command not found\n',
    why: "the program 'uvx' was not found",
    fix: 'install uvx',
  },
  {
    what: 'env: no Node',
    output: 'env: ‘node’: No such file or directory\n',
    why: "the program 'node' was not found",
    fix: 'install node',
  },
  {
    what: 'Node: a program that is not there',
    output: `node:internal/modules/cjs/loader:1386
  throw err;
  ^

Error: Cannot find module '/tmp/real/nosuch.mjs'
    at Function._resolveFilename (node:internal/modules/cjs/loader:1383:15)
    at node:internal/main/run_main_module:36:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2
`,
    why: 'a file that it needs is not there',
    fix: "correct the path in 'args' of it (/c.yaml)",
  },
  {
    what: 'Node: a package that is not installed',
    output: `node:internal/modules/package_json_reader:301
  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);
        ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'nosuch' imported from /tmp/real/a.mjs
    at Object.getPackageJSONURL (node:internal/modules/package_json_reader:301:9)
    at ModuleLoader.resolve (node:internal/modules/esm/loader:780:38) {
  code: 'ERR_MODULE_NOT_FOUND'
}

Node.js v20.20.2
`,
    why: 'a package that it needs is not installed',
    fix: 'npm install',
  },
  {
    what: 'Node: a built-in module of a newer one',
    output: `Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite
    at ModuleLoader.builtinStrategy (node:internal/modules/esm/translators:391:11) {
  code: 'ERR_UNKNOWN_BUILTIN_MODULE'
}

Node.js v20.20.2
`,
    why: 'it needs a newer Node than the one that runs it',
    fix: 'install a newer Node',
  },
  {
    what: 'Node: an export of a newer one',
    output: `file:///tmp/real/c.mjs:1
import {glob} from "node:fs"
        ^^^^
SyntaxError: The requested module 'node:fs' does not provide an export named 'glob'
    at ModuleJob._instantiate (node:internal/modules/esm/module_job:213:21)

Node.js v20.20.2
`,
    why: 'it needs a newer Node than the one that runs it',
    fix: 'install a newer Node',
  },
  {
    what: 'Node: a port that is taken',
    output: `node:events:502
      throw er; // Unhandled 'error' event
      ^

Error: listen EADDRINUSE: address already in use :::39593
    at Server.setupListenHandle [as _listen2] (node:net:1908:16)
Emitted 'error' event on Server instance at:
    at emitErrorNT (node:net:1944:8)
    at process.processTicksAndRejections (node:internal/process/task_queues:82:21) {
  code: 'EADDRINUSE',
  errno: -98,
  syscall: 'listen',
  address: '::',
  port: 39593
}

Node.js v20.20.2
`,
    why: 'another program has the port 39593',
    fix: 'lsof -i :39593',
  },
  {
    what: 'Python: a port that is taken',
    output: `Traceback (most recent call last):
  File "/x/server.py", line 9, in <module>
    socket.bind(("127.0.0.1", 8000))
OSError: [Errno 98] Address already in use`,
    why: 'another program has the port that it wants',
    fix: 'lsof -i"',
  },
  {
    what: 'Python: a module that is not installed, as an import',
    output: `Traceback (most recent call last):
  File "<string>", line 1, in <module>
ModuleNotFoundError: No module named 'nosuch'`,
    why: 'a Python module that it needs is not installed',
    fix: 'install it',
  },
  {
    what: 'Python: a module that is not installed, as a program',
    output: '/usr/bin/python3: No module named nosuchmod',
    why: 'a Python module that it needs is not installed',
    fix: 'install it',
  },
  {
    what: 'Python: a program that is not there',
    output: "/usr/bin/python3: can't open file '/tmp/real/nosuch.py': [Errno 2] No such file or directory",
    why: 'the program that Python was to run is not there',
    fix: "correct the path in 'args'",
  },
  {
    what: 'Python: a variable that is not set',
    output: `Traceback (most recent call last):
  File "<string>", line 1, in <module>
  File "<frozen os>", line 679, in __getitem__
KeyError: 'API_KEY'`,
    fix: "set API_KEY in 'env' of it (/c.yaml)",
  },
  ...[
    'Error: API_KEY environment variable is required',
    'Missing required environment variable: API_KEY',
    'API_KEY is not set. Get one at https://example.com',
    'Error: Please set API_KEY before you start the server',
    'Error: Environment variable `API_KEY` not found',
    'ValueError: API_KEY must be set',
    'Fatal: environment variables API_KEY and OTHER_KEY are needed',
  ].map((output) => ({
    what: 'a variable that is not set',
    output: `Server 1.0 starting\n${output}\n`,
    fix: "set API_KEY in 'env' of it (/c.yaml)",
  })),
  {
    what: 'a variable that is set, and refused',
    output: 'Error: GIVEN_KEY is not configured',
    fix: "check the value of GIVEN_KEY in 'env' of it (/c.yaml)",
  },
  {
    what: 'an argument that is missing',
    output: 'Please provide a database URL as a command-line argument\n',
    fix: "add what it asks for to 'args' of it (/c.yaml)",
  },
  {
    what: 'an argument that is missing, with a page of help',
    output:
      'Usage: mcp-server-filesystem <allowed-directory> [additional-directories...]\nNote: directories…\n',
    fix: "add what it asks for to 'args'",
  },
  {
    what: 'uv: no such package',
    output: `  × No solution found when resolving tool dependencies:
  ╰─▶ Because nosuch-mcp was not found in the package registry and you require nosuch-mcp, we can conclude that your requirements are unsatisfiable.
`,
    why: 'uv found no such package or version in its index',
    fix: 'UV_DEFAULT_INDEX',
  },
  {
    what: 'uv: a package without the command',
    output:
      'An executable named `foo` is not provided by package `bar`.\nThe following executables are available:\n- baz',
    why: 'the package has no command of that name',
    fix: '[--from, PACKAGE, COMMAND]',
  },
  {
    what: "uv: a company's certificate",
    output: `error: Failed to fetch: \`https://index.example/simple/mcp-server-time/\`
  Caused by: error sending request for url (https://index.example/simple/mcp-server-time/)
  Caused by: client error (Connect)
  Caused by: invalid peer certificate: UnknownIssuer`,
    why: 'uv does not trust the certificate of its index',
    fix: 'SSL_CERT_FILE',
  },
  {
    what: 'uv: the index is out of reach',
    output: `error: Failed to fetch: \`https://index.example/simple/mcp-server-time/\`
  Caused by: Could not connect, are you offline?`,
    why: 'uv cannot reach its index',
    fix: 'HTTPS_PROXY',
  },
  {
    what: 'docker: no daemon',
    output: `docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?

Run 'docker run --help' for more information
`,
    why: 'the daemon of Docker does not run, or is elsewhere',
    fix: 'DOCKER_HOST',
  },
  {
    what: 'docker: not allowed',
    output:
      'docker: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Head "http://%2Fvar%2Frun%2Fdocker.sock/_ping": dial unix /var/run/docker.sock: connect: permission denied.',
    why: 'you may not use the daemon of Docker',
    fix: 'docker info',
  },
  {
    what: 'docker: no such image',
    output: `Unable to find image 'nosuch/img:latest' locally
docker: Error response from daemon: pull access denied for nosuch/img, repository does not exist or may require 'docker login'.
See 'docker run --help'.`,
    why: 'Docker found no such image',
    fix: 'docker login',
  },
];

describe('a common cause of a failed start is recognised, with its remedy', () => {
  it.each(EXAMPLES)('$what: $output', ({ output, why, fix }) => {
    const cause = causeOf(output);
    expect(cause?.why).toBe(why);
    expect(cause?.fix).toContain(fix);
  });
});

describe('output without a known cause', () => {
  it.each([
    [
      'the words of a Rust server that is asked before initialize',
      'Error: expect initialized request, but received: Some(Request(JsonRpcRequest { id: 1, request: CustomRequest }))',
    ],
    [
      'the same, after a warning',
      'WARN OTHER_KEY is not set, search is off\nError: ConnectionClosed("initialize request")',
    ],
    [
      'a warning of npm',
      "npm warn EBADENGINE Unsupported engine {\nnpm warn EBADENGINE   required: { node: '>=99' },\nserver ready",
    ],
    [
      'a module that is not needed',
      "Cannot find module 'optional', going on without it\nError: bad request server/discover",
    ],
    [
      'a program that a server can do without',
      'sh: 1: git: not found\nError: ConnectionClosed("initialize request")',
    ],
    [
      'a Docker that a server can do without',
      'Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?\nError: unexpected message',
    ],
    [
      'an address that a Rust server cannot reach',
      'WARN error sending request for url (https://api.example)',
    ],
    ['nothing', ''],
    ['a banner', 'Secure MCP Filesystem Server running on stdio'],
  ])('%s', (_, output) => {
    expect(causeOf(output)).toBeUndefined();
  });
});
