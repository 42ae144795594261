import * as z from 'zod/mini';

/**
 * The building blocks of both schemas. The phrase of each completes the error for a wrong value: "'request_timeout'
 * must be <phrase>". No phrase quotes a value, since any value may be a secret.
 */
const TEXT = /^(?=.*\S)[^\u0000-\u001f\u007f-\u009f]*$/;

export const text = (error = 'a non-empty text without control characters') =>
  z.string({ error }).check(z.regex(TEXT, { error }));

export const matching = (pattern: RegExp, error: string) =>
  z.string({ error }).check(z.regex(pattern, { error }));

export const flag = () => z.boolean({ error: 'true or false' });

export const choice = <const T extends readonly string[]>(...options: T) =>
  z.enum(options, { error: `one of ${options.join(', ')}` });

/** Node fires a longer timer at once. */
const MAX_SECONDS = 2_147_483;

export const seconds = (error = 'a number of seconds above 0') =>
  z
    .number({ error })
    .check(z.positive({ error }), z.maximum(MAX_SECONDS, { error: `${error} (at most 24 days)` }));

export const secondsOrOff = (error = 'a number of seconds, 0 for off') =>
  z
    .number({ error })
    .check(z.minimum(0, { error }), z.maximum(MAX_SECONDS, { error: `${error} (at most 24 days)` }));

export const whole = (least: number, most: number, unit = '') => {
  const error = `a whole number${unit} from ${least} to ${most}`;
  return z.int({ error }).check(z.minimum(least, { error }), z.maximum(most, { error }));
};

export const within = (least: number, most: number) => {
  const error = `a number from ${least} to ${most}`;
  return z.number({ error }).check(z.minimum(least, { error }), z.maximum(most, { error }));
};

export const texts = (error = 'a list of texts') =>
  z.array(z.string({ error: 'a text; put quotes around a number, true, false or null' }), { error });

export const names = (error = 'a list of non-empty texts') => z.array(text(), { error });

/** A map of names to texts: `env` and `headers`. */
export const pairs = (error = 'a map of names to texts') =>
  z.record(z.string(), z.string({ error: 'a text; put quotes around a number, true, false or null' }), {
    error,
  });

export const anyMap = (error = 'a map') => z.record(z.string(), z.unknown(), { error });

export const map = <T extends z.core.$ZodLooseShape>(shape: T, error = 'a map') =>
  z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : error) });

export { optional } from 'zod/mini';
