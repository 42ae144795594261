import { isObject, type JsonObject } from '../../shared/json.js';
import { type Profile, serverFilter, toolFilter, toolKey } from '../../shared/mcp/profile.js';
import type { Surface } from '../../shared/mcp/surface.js';
import { invalidParams, unknownProfile } from '../errors.js';

/**
 * The herd through a profile: which servers and tools a view has, their public names, descriptions and arguments. A
 * profile that was removed from the config while connections use it has no server.
 */
export class ProfileLens {
  readonly name: string;
  readonly hasServer: (server: string) => boolean;
  readonly #profile: Profile | undefined;
  /** The others that there are, for the error. */
  readonly #names: readonly string[];
  readonly #hasTool: (server: string, tool: string) => boolean;
  readonly #rename: ReadonlyMap<string, string>;
  readonly #describe: ReadonlyMap<string, string>;
  readonly #defaults: ReadonlyMap<string, JsonObject>;
  readonly #keys: ReadonlyMap<string, string>;
  /** By the list of the server: all that use a list get the very same result. */
  readonly #tools = new WeakMap<readonly JsonObject[], readonly JsonObject[]>();

  constructor(name: string, profiles: ReadonlyMap<string, Profile>) {
    const profile = profiles.get(name);
    this.name = name;
    this.#profile = profile;
    this.#names = [...profiles.keys()];
    this.hasServer = profile === undefined ? () => false : serverFilter(profile);
    this.#hasTool = toolFilter(profile?.tools ?? []);
    this.#rename = new Map(Object.entries(profile?.rename ?? {}));
    this.#describe = new Map(Object.entries(profile?.describe ?? {}));
    this.#defaults = new Map(Object.entries(profile?.defaults ?? {}));
    this.#keys = new Map([...this.#rename].map(([key, publicName]) => [publicName, key]));
  }

  /** What the profile says of what agents see, instead of the config of the daemon. */
  get surface(): Partial<Surface> {
    return this.#profile?.surface ?? {};
  }

  isSame(other: ProfileLens): boolean {
    return JSON.stringify(this.#profile) === JSON.stringify(other.#profile);
  }

  /** Throws where the profile was removed from the config. */
  check(): void {
    if (this.#profile === undefined) throw unknownProfile(this.name, this.#names, 'removed');
  }

  has(server: string, tool: string): boolean {
    return this.hasServer(server) && this.#hasTool(server, tool);
  }

  /** Those of a server's tools that the profile has, with its descriptions and without the arguments that it fills in. */
  tools(server: string, known: readonly JsonObject[]): readonly JsonObject[] {
    const made = this.#tools.get(known) ?? this.#shown(server, known);
    this.#tools.set(known, made);
    return made;
  }

  /** Undefined where the profile does not rename it. */
  publicNameOf(server: string, tool: string): string | undefined {
    return this.#rename.get(toolKey(server, tool));
  }

  /** What the profile renames to this, of the servers that there are. Of two that fit the longer name counts. */
  renamed(publicName: string, servers: readonly string[]): { server: string; tool: string } | undefined {
    const key = this.#keys.get(publicName);
    if (key === undefined) return undefined;
    const owners = servers.filter((server) => key.startsWith(toolKey(server, '')));
    const [server] = owners.sort((a, b) => b.length - a.length);
    return server === undefined ? undefined : { server, tool: key.slice(toolKey(server, '').length) };
  }

  /**
   * The params of a call with the arguments of the profile. These win over what the caller sends. Throws where that is no
   * map: a lenient server would run the call without the arguments of the profile.
   */
  filledIn(server: string, tool: string, params: JsonObject): JsonObject {
    const filled = this.#defaults.get(toolKey(server, tool));
    if (filled === undefined) return params;
    const given = params.arguments ?? {};
    if (!isObject(given)) throw invalidParams("'arguments' must be a map");
    return { ...params, arguments: { ...given, ...filled } };
  }

  #shown(server: string, known: readonly JsonObject[]): readonly JsonObject[] {
    return known
      .filter(({ name }) => this.#hasTool(server, String(name)))
      .map((definition) => this.#definition(toolKey(server, String(definition.name)), definition));
  }

  /** A tool that the profile leaves as it is keeps its definition: views share the words of it. */
  #definition(key: string, definition: JsonObject): JsonObject {
    const description = this.#describe.get(key);
    const filled = this.#defaults.get(key);
    if (description === undefined && filled === undefined && !this.#rename.has(key)) return definition;
    const { inputSchema } = definition;
    return {
      ...definition,
      ...(description === undefined ? {} : { description }),
      ...(filled === undefined ? {} : { inputSchema: withoutArguments(inputSchema, Object.keys(filled)) }),
    };
  }
}

function withoutArguments(schema: unknown, hidden: readonly string[]): unknown {
  if (!isObject(schema)) return schema;
  const { properties, required, ...rest } = schema;
  const isShown = (name: unknown) => !hidden.includes(String(name));
  const left = Array.isArray(required) ? required.filter(isShown) : [];
  return {
    ...rest,
    ...(isObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isShown(name))) }
      : {}),
    ...(left.length === 0 ? {} : { required: left }),
  };
}
