import { canBeSegment, isDotSegment, isUnreachable } from './path-segment.js';

interface Literal {
  readonly kind: 'literal';
  /** Decoded; empty only as the last segment of a template that ends with a slash. */
  readonly text: string;
}

export interface Parameter {
  readonly kind: 'param';
  readonly name: string;
  /**
   * Whether a value may contain characters that other parameters never receive, such as a slash.
   */
  readonly isEncoded: boolean;
}

/** Literals and parameters in turn: `{id}.json`. */
export interface MixedSegment {
  readonly kind: 'mixed';
  readonly parts: readonly (Literal | Parameter)[];
  /** Equal for segments that differ only in the names of their parameters. */
  readonly shape: string;
}

interface Rest {
  readonly kind: 'rest';
  readonly name: string;
  readonly isEncoded: boolean;
}

export type TemplateSegment = Literal | Parameter | MixedSegment | Rest;

export interface RouteTemplate {
  /** The template as declared: `/contacts/{id}`. */
  readonly text: string;
  readonly segments: readonly TemplateSegment[];
}

/** Segments by their text. The templates of a large table share repeated ones. */
export type KnownSegments = Map<string, TemplateSegment>;

/** Thrown by {@link parseRouteTemplate}; the message continues `route '<template>' `. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

const REST = /^\{([A-Za-z0-9_-]+)\.\.\.\}$/;
const PARAMETER = /^\{([A-Za-z0-9_-]+)\}$/;
const FINAL_SLASH: Literal = { kind: 'literal', text: '' };
const BEGINS_DOT_SEGMENT = /^\.{1,2};/;
/** Splits a segment into parameters and literals. */
const PARTS = /(\{[^{}]*\})/;

/**
 * Parses `/literal/{param}/{id}.json/{rest...}`, with or without a final slash, or `/` alone, which
 * has no segment.
 * @param encoded the names of the parameters whose values may contain any character
 * @param sharedSegments the shared segments, to which new ones are added
 * @throws TemplateError for an invalid template.
 */
export function parseRouteTemplate(
  text: string,
  encoded: readonly string[] = [],
  sharedSegments: KnownSegments = new Map(),
): RouteTemplate {
  if (!text.startsWith('/')) throw new TemplateError('must start with a slash');
  if (text === '/') return { text, segments: [] };
  const texts = text.slice(1).split('/');
  const hasFinalSlash = texts.at(-1) === '';
  const lastNamed = hasFinalSlash ? texts.length - 2 : texts.length - 1;
  const segments = texts.map((part, index): TemplateSegment => {
    if (hasFinalSlash && index > 0 && index === texts.length - 1) {
      return FINAL_SLASH;
    }
    return readSegment(part, index === lastNamed, encoded, sharedSegments);
  });
  assertDistinctNames(segments);
  return { text, segments };
}

export function listParameters({
  segments,
}: Pick<RouteTemplate, 'segments'>): (Parameter | Rest)[] {
  return segments.flatMap((segment) => {
    if (segment.kind === 'mixed') return segment.parts.filter((part) => part.kind === 'param');
    return segment.kind === 'literal' ? [] : [segment];
  });
}

function assertDistinctNames(segments: readonly TemplateSegment[]): void {
  const names = new Set<string>();
  for (const segment of segments) {
    if (segment.kind === 'literal') continue;
    for (const part of segment.kind === 'mixed' ? segment.parts : [segment]) {
      if (part.kind === 'literal') continue;
      if (names.has(part.name)) throw new TemplateError(`has two parameters named '${part.name}'`);
      names.add(part.name);
    }
  }
}

/**
 * Shares only segments that depend on their text alone: a rest parameter depends on its position,
 * and encoded ones on the route.
 */
function readSegment(
  text: string,
  isLast: boolean,
  encoded: readonly string[],
  sharedSegments: KnownSegments,
): TemplateSegment {
  if (encoded.length > 0 && text.includes('{')) return parseSegment(text, isLast, encoded);
  const present = sharedSegments.get(text);
  if (present !== undefined) return present;
  const segment = parseSegment(text, isLast, encoded);
  if (segment.kind !== 'rest') sharedSegments.set(text, segment);
  return segment;
}

function parseSegment(text: string, isLast: boolean, encoded: readonly string[]): TemplateSegment {
  if (text === '') throw new TemplateError('has an empty segment');
  const rest = REST.exec(text)?.[1];
  if (rest !== undefined) {
    if (!isLast) throw new TemplateError(`has '${text}' before its last segment`);
    return { kind: 'rest', name: rest, isEncoded: encoded.includes(rest) };
  }
  const parts = text.split(PARTS).filter((part) => part !== '');
  if (parts.length === 1) return parsePart(text, text, encoded);
  const parsed = parseParts(parts, text, encoded);
  const shape = parsed.map((part) => (part.kind === 'literal' ? part.text : '{}')).join('');
  return { kind: 'mixed', parts: parsed, shape };
}

function parseParts(texts: readonly string[], segment: string, encoded: readonly string[]) {
  const parts = texts.map((text) => parsePart(text, segment, encoded));
  for (const [index, part] of parts.entries()) {
    if (part.kind !== 'param' || parts[index + 1]?.kind !== 'param') continue;
    const problem = 'has two parameters without a literal character between them';
    throw new TemplateError(`${problem}: '${segment}'`);
  }
  if (BEGINS_DOT_SEGMENT.test(segment)) throw unmatchable(segment);
  return parts;
}

/** @param segment the segment that contains the part */
function parsePart(text: string, segment: string, encoded: readonly string[]): Literal | Parameter {
  const name = PARAMETER.exec(text)?.[1];
  if (name !== undefined) return { kind: 'param', name, isEncoded: encoded.includes(name) };
  assertLiteral(text, segment);
  return { kind: 'literal', text };
}

function assertLiteral(text: string, segment: string): void {
  if (text.includes('{') && !text.includes('}')) {
    throw new TemplateError('has an unclosed parameter');
  }
  if (text.includes('{') || text.includes('}')) {
    throw new TemplateError(
      `has a segment that is neither a literal nor a parameter: '${segment}'`,
    );
  }
  if (text === segment && isDotSegment(text)) throw unmatchable(text);
  if (text === segment ? !canBeSegment(text) : isUnreachable(text) || !text.isWellFormed()) {
    throw new TemplateError('has a literal that no request can match');
  }
}

function unmatchable(segment: string): TemplateError {
  return new TemplateError(`has a segment '${segment}', which no request can match`);
}

/** Templates with the same shape match the same requests: parameters by position, not by name. */
export function templateShape(template: Pick<RouteTemplate, 'segments'>): string {
  // No literal has a brace, so no other segment has this text.
  return writeTemplate(template, (text) => text, shapeOf);
}

function shapeOf({ kind }: Parameter | Rest): string {
  return kind === 'rest' ? '{...}' : '{}';
}

/** Writes a template with its literals and parameters in another form; `/` alone is empty. */
export function writeTemplate(
  { segments }: Pick<RouteTemplate, 'segments'>,
  writeLiteral: (text: string) => string,
  writeParameter: (parameter: Parameter | Rest) => string,
): string {
  const write = (part: Literal | Parameter | Rest) =>
    part.kind === 'literal' ? writeLiteral(part.text) : writeParameter(part);
  return segments
    .map(
      (segment) =>
        `/${segment.kind === 'mixed' ? segment.parts.map(write).join('') : write(segment)}`,
    )
    .join('');
}
