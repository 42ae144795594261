import {
  BAD_HEADER_VALUE,
  HOW_TO_REFER,
  isHeaderValue,
  isMalformed,
  MALFORMED_REFERENCE,
} from './entry/entry-rules.js';
import { addUrlSecrets } from './entry/resolve.js';
import type { Report } from './fields/parsed-entry.js';
import type { EmbeddingsSpec, Settings } from './fields/spec.js';
import { urlProblem } from './fields/url-rule.js';
import { type ExpandedPart, Expander, type LoadEnvironment } from './variables/expander.js';
import { ENVIRONMENT, parseReferences } from './variables/variables.js';

const PATH = ['search', 'embeddings'] as const;

/**
 * The settings with the variables of `search` expanded. The key, and secrets in the url, become known to the redactor.
 * Embeddings with a problem, which is reported, are off.
 */
export function resolveSearch(
  settings: Settings,
  part: ExpandedPart,
  loadEnvironment: LoadEnvironment,
  report: Report,
): Settings {
  const { embeddings } = settings.search;
  if (embeddings === undefined) return settings;
  return {
    ...settings,
    search: { embeddings: resolve(embeddings, settings, part, loadEnvironment, report) },
  };
}

function resolve(
  { url, model, key }: EmbeddingsSpec,
  { security: { allowHttp } }: Settings,
  part: ExpandedPart,
  loadEnvironment: LoadEnvironment,
  report: Report,
): EmbeddingsSpec | undefined {
  const { redactor, environment } = loadEnvironment;
  let isFaulty = false;
  const fail = (name: keyof EmbeddingsSpec, message: string, fix: string) => {
    isFaulty = true;
    report(part.document.problem('ConfigError', [...PATH, name], message, fix));
  };
  const expander = new Expander(part, loadEnvironment, [{ label: ENVIRONMENT, values: environment }], report);
  const expand = (name: keyof EmbeddingsSpec, text: string) => {
    if (isMalformed(parseReferences(text))) fail(name, MALFORMED_REFERENCE, HOW_TO_REFER);
    return expander.text(text, [...PATH, name]);
  };
  const spec = {
    url: expand('url', url),
    // an empty text, as of ${NAME:-}, is none
    model: (model && expand('model', model)) || undefined,
    key: (key && expand('key', key)) || undefined,
  };
  addUrlSecrets(redactor, spec.url);
  if (spec.key) redactor.add('key', spec.key);
  if (expander.isIncomplete || isFaulty) return undefined;
  const fault = urlProblem(spec.url, 'http', allowHttp);
  if (fault !== undefined) fail('url', fault.message, fault.fix);
  else if (hasUser(spec.url)) fail('url', "'url' must not hold a user name or a password", "use 'key'");
  if (spec.key !== undefined && !isHeaderValue(spec.key))
    fail('key', BAD_HEADER_VALUE, 'check the variable it comes from');
  return isFaulty ? undefined : spec;
}

function hasUser(url: string): boolean {
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}
