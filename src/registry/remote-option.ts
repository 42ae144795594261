import { toTransport } from '../config/fields/transports.js';
import { type DataMap, isMap } from '../config/parse/document.js';
import { toVariableName } from '../config/variables/names.js';
import { type Expanded, expandTemplate, type Requirement, refer, requirementOf } from './expand-template.js';
import type { InstallOption, UnsupportedOption } from './install-option.js';

/** How a remote of the registry is reached. Its variables get the server's name as prefix: `{token}` → `${NAME_TOKEN}`. */
export function remoteOption(remote: DataMap, shortName: string): InstallOption | UnsupportedOption {
  const type = String(remote.type ?? remote.transport_type ?? 'unknown');
  const transport = toTransport(type);
  const server = typeof remote.url === 'string' ? remote.url : '';
  if (transport !== 'http' && transport !== 'sse')
    return { kind: type, server, refused: `toolherd has no transport ${type}` };
  if (server === '') return { kind: transport, server, refused: 'it has no url' };
  const nameOf = (variable: string) => toVariableName(shortName, variable);
  const url = expandTemplate(server, remote, nameOf);
  const needs: Requirement[] = [...url.needs];
  const headers: Record<string, string> = {};
  for (const header of Array.isArray(remote.headers) ? remote.headers.filter(isMap) : []) {
    const filled = typeof header.name === 'string' ? headerText(header, header.name, nameOf) : undefined;
    if (filled === undefined) continue;
    headers[String(header.name)] = filled.text;
    needs.push(...filled.needs);
  }
  const fields = { url: url.text, ...(Object.keys(headers).length === 0 ? {} : { headers }) };
  return { kind: transport, transport, server, fields, needs };
}

/** Undefined for an optional header without a value: an empty header would be wrong. */
function headerText(
  header: DataMap,
  name: string,
  nameOf: (variable: string) => string,
): Expanded | undefined {
  const isRequired = header.isRequired ?? header.is_required;
  if (typeof header.value === 'string' && header.value !== '') {
    const filled = expandTemplate(header.value, header, nameOf);
    return isRequired === false && filled.needs.some((need) => !need.isOptional) ? undefined : filled;
  }
  if (isRequired !== true && typeof header.default !== 'string') return undefined;
  const { text, isOptional } = refer(nameOf(name), header.default);
  return { text, needs: [requirementOf(nameOf(name), header, isOptional)] };
}
