/** The version of this package; a test compares it with package.json. */
export const VERSION = '0.1.0';
/** The oldest Node that toolherd runs on: `engines` in package.json; a test compares them. */
export const NODE_NEEDED = '20.19';
/** The version of the shape of `--json` output and of the socket's methods. */
export const API_VERSION = 1;
