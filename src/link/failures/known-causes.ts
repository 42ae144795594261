import type { StdioSpec } from '../../config/fields/spec.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { FailureLines } from './failure-lines.js';

/** Why a server could not be started, and what helps. */
export interface KnownCause {
  /** Absent where the server's own output says it. */
  why?: string;
  fix: string;
}

interface Rule {
  /**
   * `runner`: printed by npx, uvx, docker or Python when they give up; it counts in any line.
   * `server`: printed by a server or its shell; it counts only as the last error, since servers that continue print the
   * same words as warnings.
   */
  from: 'runner' | 'server';
  pattern: RegExp;
  explain(found: readonly (string | undefined)[], about: About): KnownCause;
}

type About = Pick<StdioSpec, 'name' | 'env' | 'origin'>;

const FROM_A_SHELL = 'in the shell that runs "toolherd up --replace"';
/** The name of an environment variable; Node's error codes look alike. */
const VARIABLE = '(?!ERR_)([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\\b[\'"`]?';
/** The sentences by which programs report a missing variable. */
const NO_VARIABLE: readonly string[] = [
  `\\b${VARIABLE}(?: env(?:ironment)?(?: var(?:iable)?)?)? (?:is |was |has |must )?(?:required|missing|unset|undefined|not (?:been )?(?:set|found|defined|provided|configured)|be (?:set|provided|defined|configured))`,
  `[Ee]nv(?:ironment)? [Vv]ar(?:iable)?(?:s|\\(s\\))?\\b[^A-Z\\n]{0,40}${VARIABLE}`,
  `\\b(?:[Mm]issing|[Ss]et|[Pp]rovide|[Ss]pecify|[Nn]eeds?|[Rr]equire[ds]?)\\b[^A-Z\\n]{0,40}${VARIABLE}`,
  `^KeyError: '${VARIABLE}`,
];

/** The first match counts: precise rules come before general ones. */
const RULES: readonly Rule[] = [
  {
    from: 'runner',
    pattern: /^npm (?:error|ERR!) code E404$/m,
    explain: (_, about) => ({
      why: 'npm found no such package in its registry',
      fix: `correct the package in 'args' of ${entryOf(about)}; one of another registry needs that registry in ~/.npmrc`,
    }),
  },
  {
    from: 'runner',
    pattern: /^npm (?:error|ERR!) (?:code ETARGET|notarget No matching version found)/m,
    explain: (_, about) => ({
      why: 'the package has no such version',
      fix: `choose a version that "npm view PACKAGE versions" lists, in 'args' of ${entryOf(about)}`,
    }),
  },
  {
    from: 'runner',
    pattern: /^npm (?:error|ERR!) code (\w*(?:CERT|UNABLE_TO_VERIFY)\w*)$/m,
    explain: ([, code], about) => ({
      why: `npm does not trust the certificate of its registry (${code})`,
      fix: `set NODE_EXTRA_CA_CERTS (and npm_config_cafile, where your .npmrc has a cafile) to the file of your company's CA, in 'env' of ${entryOf(about)}, or ${FROM_A_SHELL}`,
    }),
  },
  {
    from: 'runner',
    pattern:
      /^npm (?:error|ERR!) code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED|UND_ERR_\w+)$/m,
    explain: ([, code]) => ({
      why: `npm cannot reach its registry (${code})`,
      fix: `check the network with "npm ping"; set HTTPS_PROXY or npm_config_registry, where you need them, ${FROM_A_SHELL}`,
    }),
  },
  {
    from: 'runner',
    pattern: /^npm (?:error|ERR!) code (E401|E403|ENEEDAUTH)$/m,
    explain: ([, code]) => ({
      why: `the registry of npm wants a login (${code})`,
      fix: 'run "npm login", or put the token of the registry into ~/.npmrc',
    }),
  },
  {
    from: 'runner',
    pattern: /^npm (?:error|ERR!) could not determine executable to run$/m,
    explain: (_, about) => ({
      why: 'the package has no command, or several',
      fix: `name the command in 'args' of ${entryOf(about)}: [-y, -p, PACKAGE, COMMAND]`,
    }),
  },
  {
    from: 'runner',
    pattern: /^npm (?:error|ERR!) code EBADENGINE$/m,
    explain: () => newerNode('the package does not run with this Node'),
  },
  {
    from: 'runner',
    pattern: /^npm (?:error|ERR!) code (EACCES|EPERM)$/m,
    explain: ([, code]) => ({
      why: `npm may not write to its folders (${code})`,
      fix: 'make the folder that "npm config get cache" prints your own (chown -R)',
    }),
  },
  {
    from: 'runner',
    pattern: /^npm (?:error|ERR!) code ENOSPC$/m,
    explain: () => ({ why: 'the disk is full', fix: 'make room, then start it again' }),
  },
  {
    from: 'runner',
    pattern: /^npm (?:error|ERR!) code EINTEGRITY$/m,
    explain: () => ({
      why: 'what npm downloaded is not what its registry announced (EINTEGRITY)',
      fix: 'run "npm cache verify", then start it again; if that does not help, check the registry or the proxy between',
    }),
  },
  {
    from: 'runner',
    pattern: /^npm (?:error|ERR!) code (\d+)$/m,
    explain: ([, code], { name }) => ({
      why: `an install script failed with code ${code}`,
      fix: `install what the script needs, see "toolherd logs ${shellWord(name)}"`,
    }),
  },
  {
    from: 'runner',
    pattern: /^npm (?:error|ERR!) code (\w+)$/m,
    explain: ([, code], { name }) => ({
      why: `npm failed with ${code}`,
      fix: `see "toolherd logs ${shellWord(name)}"`,
    }),
  },
  {
    from: 'runner',
    pattern: /No solution found when resolving/,
    explain: (_, about) => ({
      why: 'uv found no such package or version in its index',
      fix: `correct the package in 'args' of ${entryOf(about)}; for another index set UV_DEFAULT_INDEX ${FROM_A_SHELL}`,
    }),
  },
  {
    from: 'runner',
    pattern: /executable named `[^`]+` is not provided by package/,
    explain: (_, about) => ({
      why: 'the package has no command of that name',
      fix: `name the command in 'args' of ${entryOf(about)}: [--from, PACKAGE, COMMAND]`,
    }),
  },
  {
    from: 'runner',
    pattern: /Failed to fetch: `[\s\S]*invalid peer certificate/,
    explain: (_, about) => ({
      why: 'uv does not trust the certificate of its index',
      fix: `set SSL_CERT_FILE to the file of your company's CA (or UV_NATIVE_TLS to true), in 'env' of ${entryOf(about)}, or ${FROM_A_SHELL}`,
    }),
  },
  {
    from: 'runner',
    pattern: /Failed to fetch: `[\s\S]*(?:error sending request|are you offline)/,
    explain: () => ({
      why: 'uv cannot reach its index',
      fix: `check the network; set HTTPS_PROXY or UV_DEFAULT_INDEX, where you need them, ${FROM_A_SHELL}`,
    }),
  },
  {
    from: 'runner',
    pattern: /^docker: (?:Cannot connect to the Docker daemon|failed to connect to the docker API)/im,
    explain: () => ({
      why: 'the daemon of Docker does not run, or is elsewhere',
      fix: `start Docker (see "docker info"); for another one set DOCKER_HOST ${FROM_A_SHELL}`,
    }),
  },
  {
    from: 'runner',
    pattern: /^docker: permission denied while trying to connect/im,
    explain: () => ({
      why: 'you may not use the daemon of Docker',
      fix: 'see that "docker info" works for you (as a rule: join the group docker), then run "toolherd up --replace"',
    }),
  },
  {
    from: 'runner',
    pattern: /^docker: .*(?:pull access denied|manifest unknown|manifest for \S+ not found)/m,
    explain: (_, about) => ({
      why: 'Docker found no such image',
      fix: `correct the image in 'args' of ${entryOf(about)}, or run "docker login" where it is private`,
    }),
  },
  {
    from: 'server',
    pattern:
      /^(?:\/bin\/|\/usr\/bin\/)?(?:sh|bash|dash|zsh): (?:(?:line )?\d+: )?([\w@.+/-]+): (?:command )?not found$/m,
    explain: ([, program = '']) => notInPath(program),
  },
  {
    from: 'server',
    pattern: /^(?:\/usr\/bin\/)?env: [‘'"`]?([\w@.+/-]+)[’'"`]?: No such file or directory$/m,
    explain: ([, program = '']) => notInPath(program),
  },
  {
    from: 'runner',
    pattern: /can't open file '[^']+': \[Errno 2\]/,
    explain: (_, about) => ({
      why: 'the program that Python was to run is not there',
      fix: `correct the path in 'args' of ${entryOf(about)}`,
    }),
  },
  {
    from: 'server',
    pattern:
      /No such built-in module: node:|requested module 'node:[^']+' does not provide an export|^ReferenceError: (?:File|WebSocket|CustomEvent|navigator|Iterator) is not defined|requires? node(?:\.js)?(?: version)? ?(?:v|>=|≥)? ?\d/im,
    explain: () => newerNode('it needs a newer Node than the one that runs it'),
  },
  {
    from: 'server',
    pattern: /Cannot find (?:module|package) '([^']+)'/,
    explain: ([, module = ''], about) => ({
      why: /^[./]/.test(module)
        ? 'a file that it needs is not there'
        : 'a package that it needs is not installed',
      fix: `correct the path in 'args' of ${entryOf(about)}, or install what it needs ("npm install" in its folder; for npx remove the folder that "toolherd doctor" shows under packages)`,
    }),
  },
  {
    from: 'server',
    pattern: /No module named /,
    explain: (_, about) => ({
      why: 'a Python module that it needs is not installed',
      fix: `install it for the Python that runs the server, or correct 'args' of ${entryOf(about)}`,
    }),
  },
  {
    from: 'server',
    pattern: /EADDRINUSE(?:: address already in use \S*?:(\d+))?|address already in use/i,
    explain: ([, port], about) => ({
      why: `another program has the port ${port ?? 'that it wants'}`,
      fix: `end that program (see "lsof -i${port === undefined ? '' : ` :${port}`}"), or give the server another port in 'args' or 'env' of ${entryOf(about)}`,
    }),
  },
  {
    from: 'server',
    pattern: new RegExp(NO_VARIABLE.join('|'), 'm'),
    explain(found, about) {
      const variable = found.slice(1).find((name) => name !== undefined) ?? '';
      const verb = Object.hasOwn(about.env, variable) ? 'check the value of' : 'set';
      return { fix: `${verb} ${variable} in 'env' of ${entryOf(about)}` };
    },
  },
  {
    from: 'server',
    pattern:
      /^usage:|command[- ]line argument|arguments? (?:is|are) required|missing required (?:argument|option)/im,
    explain: (_, about) => ({ fix: `add what it asks for to 'args' of ${entryOf(about)}` }),
  },
];

/**
 * The cause that these last lines show, where it is a common one. `opened`: the server has served, so its runner had not
 * given up, and a runner's words come from a program that the server ran.
 */
export function knownCause(
  { text, lastError }: FailureLines,
  about: About,
  opened: boolean,
): KnownCause | undefined {
  for (const { from, pattern, explain } of RULES) {
    if (opened && from === 'runner') continue;
    const found = pattern.exec(from === 'runner' ? text : lastError);
    if (found !== null) return explain(found, about);
  }
  return undefined;
}

/** Printed by servers that fail on a request before `initialize`, such as those made with the Rust SDK. */
const BLAMES_PROBE = /server\/discover|\binitialized? (?:request|message)|expected? ?initialize/i;

/** Whether these last lines show that `server/discover` made the server exit. */
export function blamesProbe({ lastError }: FailureLines): boolean {
  return BLAMES_PROBE.test(lastError);
}

function entryOf({ name, origin }: About): string {
  return origin.scope === 'registered' ? name : `${name} (${origin.file})`;
}

export function notInPath(program: string): KnownCause {
  return {
    why: `the program '${program}' was not found`,
    fix: `install ${program}, or run "toolherd up --replace" from a shell whose PATH has it`,
  };
}

function newerNode(why: string): KnownCause {
  return { why, fix: 'install a newer Node, and run "toolherd up --replace" from a shell whose PATH has it' };
}
