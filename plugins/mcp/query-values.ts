import type { RouteParameter } from '../../core/contract/index.js';
import { nameKind } from './check-arguments.js';
import type { ExactValue } from './exact-json.js';
import { InvalidArguments } from './tool-error.js';

type QueryParameter = Pick<RouteParameter, 'name' | 'style' | 'explode' | 'content'>;

const SEPARATORS: Readonly<Record<string, string>> = {
  form: ',',
  spaceDelimited: '%20',
  pipeDelimited: '%7C',
};

/**
 * Writes a value in the style of its parameter, as pairs for a query. Without a style, a list is
 * repeated, and other values are scalars.
 * @throws InvalidArguments for a value that the style has no form for.
 */
export function writeQuery(
  argument: string,
  { name, style, explode = style === 'form', content }: QueryParameter,
  value: ExactValue,
): string[] {
  const write = (texts: readonly string[]) => {
    const parts = texts.map((text) => encode(() => encodeURIComponent(text)));
    return `${encode(() => encodeURIComponent(name))}=${parts.join(SEPARATORS[style ?? 'form'])}`;
  };
  if (content !== undefined) return [write([value.text])];
  const isJoined = style !== undefined && style !== 'deepObject' && !explode;
  if (value.kind === 'array') {
    const texts = value.items.map((item) => readScalar(argument, item));
    return isJoined ? [write(texts)] : texts.map((text) => write([text]));
  }
  if (value.kind !== 'object' || style === undefined) return [write([readScalar(argument, value)])];
  const members = [...value.members];
  if (isJoined) {
    return [write(members.flatMap(([key, member]) => [key, readScalar(argument, member)]))];
  }
  return members.flatMap(([key, member]) => {
    const own = style === 'deepObject' ? { name: `${name}[${key}]`, style } : { name: key };
    return writeQuery(argument, own, member);
  });
}

export function readScalar(field: string, value: ExactValue): string {
  if (value.kind === 'string') return value.value;
  if (value.kind === 'number' || value.kind === 'boolean') return value.text;
  const reason = `${nameKind(value)}: expected a string, number or boolean`;
  throw new InvalidArguments({ field, reason });
}

/** @throws InvalidArguments for half of a surrogate pair, which is invalid in a URL. */
export function encode(write: () => string): string {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    const reason = 'not Unicode: expected texts without halves of surrogate pairs';
    throw new InvalidArguments({ field: 'arguments', reason });
  }
}
