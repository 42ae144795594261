/** The words of the benchmarks. */
declare namespace Bench {
  /** Prints a line about the run. */
  type Note = (text: string) => void;
  type Argv = [string, ...string[]];
  type Arguments = Record<string, unknown>;

  /** How an agent reaches the servers: a row of bench/transports/index.mjs and what it needs. */
  interface TransportOptions {
    kind: string;
    path?: string;
    speaks?: 'mcp' | 'fleet';
    servers?: Record<string, Argv>;
    bridge?: Argv;
    env?: NodeJS.ProcessEnv;
    module?: string;
    folder?: string;
    config?: string;
    url?: string;
    sockets?: Record<string, string>;
  }

  /** What came back, as JSON: each reader knows its own shape. */
  // biome-ignore lint/suspicious/noExplicitAny: a type for each answer would only repeat what the reader says
  type Json = any;

  interface Transport {
    call(server: string, tool: string, args: Arguments): Promise<Json>;
    list?(server: string): Promise<unknown>;
    request?(method: string, params: object): Promise<Json>;
    close(): unknown;
  }

  /** A process that runs the workloads of bench/workloads.mjs. */
  interface Agent {
    pid: number;
    ask(order: string, params?: object): Promise<Json>;
    close(): Promise<void>;
  }

  interface CommandLine {
    command: string;
    args: string[];
    options?: object;
    /** Its output has to contain this. */
    says?: string;
    isPeer?: boolean;
  }

  /** What is measured, running. */
  interface System {
    pid?: number;
    pids?: number[];
    transport: TransportOptions;
    agentOptions?: object;
    command?: CommandLine;
    close(): Promise<void>;
  }

  interface Peer {
    name: string;
    version: string;
    mostServers?: number;
    start(servers: Commands): Promise<System>;
    /** From nothing to the list of all tools, in ms. */
    startTime(servers: Commands): Promise<number>;
  }

  /** Servers by name, with their commands; or only the names, of servers that echo. */
  type Commands = string[] | Record<string, Argv>;

  /** Servers by name, with fields of their entries; or only the names. */
  type Servers = string[] | Record<string, object>;

  interface MetricOptions {
    rounds: number;
    calls: number;
    sizes: number[];
    size: number;
    ms: number;
    count?: number;
    agents?: number;
    peers: Peer[];
    note: Note;
    /** Says why this metric cannot be measured here. */
    leaveOut: Note;
  }

  /** The JSON of a run, as docs/bench/results.json has it: each metric adds its own part. */
  type Results = Record<string, Json>;
}
