import { createHash } from 'node:crypto';
import { loadBundle } from './cli/load-bundle.js';

/** Of SHA-1, which the build puts behind the machine code. It is there against a bad disk, not against bad people. */
const DIGEST_BYTES = 20;

/** V8 looks at the head of it and at no more: one wrong byte further on would end every start of the daemon. */
function whole(kept: Buffer): Buffer | undefined {
  const code = kept.subarray(0, -DIGEST_BYTES);
  const digest = createHash('sha1').update(code).digest();
  return digest.equals(kept.subarray(-DIGEST_BYTES)) ? code : undefined;
}

/** All it does is to load the daemon's program: what is loaded like that comes compiled. */
loadBundle('program', whole);
