import './no-inspector.js';
import { createHash } from 'node:crypto';
import { loadBundle } from './load-bundle.js';

/** A SHA-1 digest, which the build appends to the machine code. It protects against a bad disk, not against an attacker. */
const DIGEST_BYTES = 20;

/**
 * The machine code, if its digest is right. V8 checks only the header, the length of the source and its own version without
 * Node's patches. A wrong byte further on would crash every start of the daemon, and V8 would run the code of another source
 * of the same length.
 */
function checked(kept: Buffer, source: Buffer): Buffer | undefined {
  const code = kept.subarray(0, -DIGEST_BYTES);
  const digest = createHash('sha1').update(process.versions.v8).update(code).update(source).digest();
  return digest.equals(kept.subarray(-DIGEST_BYTES)) ? code : undefined;
}

/** This file only loads the daemon's bundle, so that the bundle comes with its machine code. */
loadBundle('program', checked);
