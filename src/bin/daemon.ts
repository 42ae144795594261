import { createHash } from 'node:crypto';
import { loadBundle } from './load-bundle.js';

/** Of SHA-1, which the build puts behind the machine code. It is there against a bad disk, not against bad people. */
const DIGEST_BYTES = 20;

/**
 * V8 looks at the head of it, at the length of the source and at its own version without Node's patches, and at no
 * more: one wrong byte further on would end every start of the daemon, and of a source as long as this one it would run.
 */
function whole(kept: Buffer, source: Buffer): Buffer | undefined {
  const code = kept.subarray(0, -DIGEST_BYTES);
  const digest = createHash('sha1').update(process.versions.v8).update(code).update(source).digest();
  return digest.equals(kept.subarray(-DIGEST_BYTES)) ? code : undefined;
}

/** All it does is to load the daemon's program: what is loaded like that comes compiled. */
loadBundle('program', whole);
