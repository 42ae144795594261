import { isObject, type JsonObject } from '../shared/json.js';
import { firstSentence } from './signature.js';
import { joinedStems, nameWords, proseWords, stem, stemsOf } from './words.js';

/** A tool as the index counts its words. */
export interface ToolDocument {
  /** How much each stem says about the tool: its counts in all fields, weighted and normalised by their lengths. */
  weights: ReadonlyMap<string, number>;
  /** The stems of its name. */
  name: ReadonlySet<string>;
}

/** What a search looks at. */
export interface ToolText {
  server: string;
  /** As its server lists it. */
  definition: JsonObject;
  /** Of the server, if it gave some. */
  instructions?: string | undefined;
}

interface Field {
  /** How much a word in this field counts. */
  weight: number;
  /** How much a long field makes each of its words count less: 0 not at all, 1 in proportion. */
  lengthPenalty: number;
  /** A usual number of stems. A fixed one, not the average of the herd: then tools of one server do not change another's. */
  usualLength: number;
}

/** Round numbers that serve all sets of docs/SEARCH.md alike. */
const FIELDS = {
  name: { weight: 4, lengthPenalty: 0.3, usualLength: 2.5 },
  title: { weight: 3, lengthPenalty: 0.3, usualLength: 2.5 },
  server: { weight: 3, lengthPenalty: 0, usualLength: 2 },
  /** The first sentence says what a tool does; what follows is often about limits and about other tools. */
  summary: { weight: 1.5, lengthPenalty: 0.3, usualLength: 8 },
  joined: { weight: 1, lengthPenalty: 0, usualLength: 2 },
  argumentNames: { weight: 1, lengthPenalty: 0.6, usualLength: 4 },
  description: { weight: 0.5, lengthPenalty: 0.6, usualLength: 15 },
  argumentTexts: { weight: 0.35, lengthPenalty: 0.7, usualLength: 20 },
  instructions: { weight: 0.2, lengthPenalty: 0.7, usualLength: 40 },
} satisfies Record<string, Field>;

/** The first words of the instructions are indexed with each tool of their server. */
const INSTRUCTION_WORDS = 100;
const DEEPEST_ARGUMENT = 3;
const MOST_ARGUMENTS = 200;

export function toolDocument({ server, definition, instructions = '' }: ToolText): ToolDocument {
  const { name, title, description, annotations, inputSchema } = definition;
  const summary = firstSentence(textOf(description));
  const rest = textOf(description).trim().slice(summary.length);
  const ownWords = nameWords(textOf(name));
  const serverWords = nameWords(server);
  const given = argumentsOf(inputSchema);
  const titles = [title, isObject(annotations) ? annotations.title : undefined].map(textOf);
  // a name has no words of grammar without reason: `help`, `use_skill`
  const nameStems = ownWords.map(stem);
  const stems: Record<keyof typeof FIELDS, readonly string[]> = {
    name: nameStems,
    title: stemsOf([...new Set(titles)].flatMap(proseWords)),
    server: serverWords.map(stem),
    summary: stemsOf(proseWords(summary)),
    joined: [...joinedStems(ownWords), ...joinedStems(serverWords)],
    argumentNames: stemsOf(given.names.flatMap(nameWords)),
    description: stemsOf(proseWords(rest)),
    argumentTexts: stemsOf(given.texts.flatMap(proseWords)),
    instructions: stemsOf(proseWords(instructions).slice(0, INSTRUCTION_WORDS)),
  };
  const weights = new Map<string, number>();
  for (const [field, { weight, lengthPenalty, usualLength }] of Object.entries(FIELDS)) {
    const found = stems[field as keyof typeof FIELDS];
    const each = weight / (1 - lengthPenalty + (lengthPenalty * found.length) / usualLength);
    for (const one of found) weights.set(one, (weights.get(one) ?? 0) + each);
  }
  return { weights, name: new Set(nameStems) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The names, descriptions and choices of all arguments, also of those in objects and lists. */
function argumentsOf(schema: unknown): { names: string[]; texts: string[] } {
  const names: string[] = [];
  const texts: string[] = [];
  const collect = (part: unknown, depth: number) => {
    if (!isObject(part) || depth > DEEPEST_ARGUMENT) return;
    texts.push(...choicesOf(part));
    if (isObject(part.properties)) {
      for (const [name, property] of Object.entries(part.properties)) {
        if (names.length >= MOST_ARGUMENTS) return;
        names.push(name);
        if (!isObject(property)) continue;
        texts.push(textOf(property.description));
        collect(property, depth + 1);
      }
    }
    collect(part.items, depth + 1);
  };
  collect(schema, 0);
  return { names, texts };
}

const MOST_CHOICES = 20;

function choicesOf({ enum: choices }: Record<string, unknown>): string[] {
  return Array.isArray(choices) ? choices.slice(0, MOST_CHOICES).map(textOf) : [];
}
