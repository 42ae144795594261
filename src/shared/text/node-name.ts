/** A node of a cluster: its name is a part of subjects of NATS, and of the names of other nodes' servers. */
export const NODE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;

/** Whether it is a name of a node, or of a cluster. */
export function isNodeName(name: string): boolean {
  return NODE_NAME.test(name);
}
