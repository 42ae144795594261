/** Which pins to show or accept. */
export interface PinParams {
  /** Default: every server of the view. */
  server?: string | undefined;
  /** Pins the present definitions. */
  accept?: boolean | undefined;
  /** Accepts only definitions with these hashes: those that a person has seen. */
  hashes?: readonly string[] | undefined;
}

/** A definition of a tool at some time. */
export interface PinnedVersion {
  /** SHA-256 of the definition: of its name, title, description, schemas and annotations as canonical JSON. */
  hash: string;
  /** When it was pinned, or first seen so; ISO 8601. */
  at: string;
  /** The package that offered it so first, where it is known: `name@1.2.3`. */
  package?: string;
  /** Where there is a difference: all of it, or the beginning of one that is very long. Without secrets. */
  definition?: Record<string, unknown>;
  excerpt?: string;
}

export interface ToolPin {
  tool: string;
  /** `changed`: it differs from its pin. `new`: it was added later, and waits to be accepted. */
  state: 'pinned' | 'changed' | 'new';
  /** It is not listed to agents and cannot be called. */
  blocked: boolean;
  /** Null for a new one. */
  pinned: PinnedVersion | null;
  /** Null where it is what was pinned, or is not offered. */
  offered: PinnedVersion | null;
}

export interface ServerPins {
  server: string;
  /** Why the pins cannot be read; null where they can. */
  problem: string | null;
  tools: ToolPin[];
}

export interface PinReport {
  policy: 'off' | 'warn' | 'enforce';
  servers: ServerPins[];
  /** What was accepted by this request. */
  accepted: { server: string; tool: string; hash: string }[];
}
