import type { ContentBlock, ToolResult, WireError } from '../../fleet/fleet.js';

/** One block of a result, ready to be drawn. Texts are drawn as text, never as markup. */
export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'json'; text: string }
  /** `src`: a data: URI of an allowed type. */
  | { kind: 'image' | 'audio'; src: string; type: string; bytes: number }
  | { kind: 'link'; uri: string; name: string; type: string | null; isWeb: boolean }
  | { kind: 'resource'; uri: string; type: string | null; bytes: number; shown: Part | null }
  /** What the page does not draw, and why. */
  | { kind: 'other'; type: string; reason: string; text: string };

export interface ResultView {
  outcome: 'ok' | 'tool error' | 'failed';
  /** What went wrong, in the words of toolherd; null where the tool answered. */
  error: Pick<WireError, 'type' | 'message' | 'why' | 'fix' | 'sent' | 'retryable'> | null;
  parts: readonly Part[];
  /** As JSON; null where the result has none. */
  structured: string | null;
  durationMs: number;
  /** The text was cut: how much of it is shown. */
  cut: string | null;
}

/** Types that a browser only draws. SVG is not among them: it may hold links and styles. */
const IMAGES = /^image\/(png|jpe?g|gif|webp|avif|bmp)$/;
const AUDIO = /^audio\/(mpeg|mp3|wav|wave|x-wav|ogg|webm|aac|flac|mp4)$/;
const TEXTS = /^(text\/|application\/(json|xml|yaml|javascript|x-yaml)\b|[\w.+/-]+\+(json|xml)$)/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** A longer one would make the page slow. */
const MAX_MEDIA_BYTES = 20_000_000;

export function viewResult({ success, content, error, metadata }: ToolResult): ResultView {
  const { structured_content, execution_time_ms, is_error, truncated } = metadata;
  return {
    outcome: success ? 'ok' : is_error ? 'tool error' : 'failed',
    // the words of a tool that failed are its content
    error: is_error ? null : error,
    parts: content.map(partOf),
    structured: structured_content === undefined ? null : JSON.stringify(structured_content, null, 2),
    durationMs: execution_time_ms,
    cut:
      truncated === undefined
        ? null
        : `${truncated.given} of ${truncated.characters} characters are shown: result_limit cut the rest`,
  };
}

/** One resource or message of a prompt, as MCP has it. */
export function viewContents(result: Record<string, unknown>): Part[] {
  const contents = Array.isArray(result.contents) ? result.contents : null;
  const messages = Array.isArray(result.messages) ? result.messages : null;
  if (contents !== null) return contents.map(contentsPart);
  if (messages !== null) return messages.map(messagePart);
  return [{ kind: 'json', text: JSON.stringify(result, null, 2) }];
}

function contentsPart(given: unknown): Part {
  const { uri, mimeType, text, blob } = (given ?? {}) as Record<string, unknown>;
  const type = typeof mimeType === 'string' ? mimeType : null;
  const where = typeof uri === 'string' ? uri : '';
  if (typeof text === 'string')
    return { kind: 'resource', uri: where, type, bytes: text.length, shown: textPart(text, type) };
  if (typeof blob === 'string') return resourcePart(where, type, blob);
  return { kind: 'json', text: JSON.stringify(given, null, 2) };
}

/** Of a prompt: who says it stands before the text. */
function messagePart(given: unknown): Part {
  const { role, content } = (given ?? {}) as { role?: unknown; content?: { type?: unknown; text?: unknown } };
  if (content?.type === 'text' && typeof content.text === 'string')
    return { kind: 'text', text: `${String(role)}: ${content.text}` };
  return { kind: 'json', text: JSON.stringify(given, null, 2) };
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return textPart(block.text, null);
    case 'image':
    case 'audio':
      return mediaPart(block.type, block.mime_type, block.data);
    case 'binary': {
      const uri = block.uri ?? '';
      if (block.data !== null) return resourcePart(uri, block.mime_type, block.data);
      return {
        kind: 'link',
        uri,
        name: block.name ?? uri,
        type: block.mime_type,
        isWeb: /^https?:\/\//i.test(uri),
      };
    }
    case 'unknown':
      return {
        kind: 'other',
        type: block.original_type,
        reason: 'a kind of content that this page does not know',
        text: JSON.stringify(block.raw, null, 2),
      };
  }
}

function resourcePart(uri: string, type: string | null, data: string): Part {
  const bytes = bytesOf(data);
  return { kind: 'resource', uri, type, bytes, shown: shownOf(type, data) };
}

function shownOf(type: string | null, data: string): Part | null {
  const plain = bare(type);
  if (IMAGES.test(plain)) return mediaPart('image', plain, data);
  if (AUDIO.test(plain)) return mediaPart('audio', plain, data);
  const text = TEXTS.test(plain) || type === null ? decoded(data) : null;
  return text === null ? null : textPart(text, type);
}

function mediaPart(kind: 'image' | 'audio', type: string, data: string): Part {
  const plain = bare(type);
  const packed = data.replaceAll(/\s/g, '');
  const bytes = bytesOf(packed);
  const reason = !(kind === 'image' ? IMAGES : AUDIO).test(plain)
    ? `a page does not draw ${plain || 'a type without a name'}`
    : !BASE64.test(packed)
      ? 'its data is no base64'
      : bytes > MAX_MEDIA_BYTES
        ? `it has ${bytes} bytes, and a page draws at most ${MAX_MEDIA_BYTES}`
        : null;
  if (reason !== null) return { kind: 'other', type, reason, text: '' };
  return { kind, src: `data:${plain};base64,${packed}`, type: plain, bytes };
}

/** A text that is JSON is drawn with its lines and indents. */
function textPart(text: string, type: string | null): Part {
  const looksLikeJson = /^\s*[[{]/.test(text) && text.length < 1_000_000;
  if (!looksLikeJson && bare(type) !== 'application/json') return { kind: 'text', text };
  try {
    return { kind: 'json', text: JSON.stringify(JSON.parse(text), null, 2) };
  } catch {
    return { kind: 'text', text };
  }
}

function decoded(data: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Without its parameters: `image/png; x=y` → `image/png`. */
function bare(type: string | null): string {
  return (type ?? '').split(';')[0]!.trim().toLowerCase();
}

/** Of base64. */
function bytesOf(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}
