import { skipMark } from '../../lib/byte-order-mark.js';
import { decodeUtf8 } from '../../lib/decode-utf8.js';
import { BYTE_BODY_HEADERS, BYTE_REQUEST_HEADERS } from '../../lib/header-names.js';
import { splitForm } from '../../schema/query-schema.js';
import type { RouteCall } from '../forward/route-call.js';
import { type ApprovedCall, createArgumentError } from './approvals.js';

const BODY = 'body';

/**
 * Describes the call of a route as it will be sent, with its path parameters, its query and its
 * body under the names of the tool. It is made of the request itself, so that a surface cannot show
 * people one call and send another.
 * @throws HostError 400 for text that cannot be displayed.
 */
export function describeRouteCall(call: RouteCall): ApprovedCall {
  const { matched, request, body, sendsBytes } = call;
  const { match, target } = matched;
  const { responseBytes } = match.value;
  const path = Object.entries(match.params);
  const query = readQuery(target.forwardTarget);
  const isPath = (name: string) => Object.hasOwn(match.params, name);
  const nameOf = (place: 'path' | 'query', name: string, isClash: boolean) =>
    name === BODY || isClash ? `${place}_${name}` : name;
  const members = [
    ...path.map(([name, value]) => [nameOf('path', name, query.has(name)), JSON.stringify(value)]),
    ...[...query].map(([name, values]) => {
      const value = values.length === 1 ? values[0] : values;
      return [nameOf('query', name, isPath(name)), JSON.stringify(value)];
    }),
    ...(body === null ? [] : [[BODY, readBody(body, sendsBytes)]]),
  ];
  const texts = members.map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  return {
    arguments: `{${texts.join(',')}}`,
    exact: [request.method, target.forwardTarget],
    headers: [
      ...(sendsBytes ? BYTE_BODY_HEADERS : []),
      ...(responseBytes === null ? [] : BYTE_REQUEST_HEADERS),
    ],
  };
}

function readQuery(target: string): Map<string, string[]> {
  const query = new Map<string, string[]>();
  const start = target.indexOf('?');
  for (const [name, text] of splitForm(start === -1 ? '' : target.slice(start + 1))) {
    if (name === null || text === null) throw createUnreadable('query');
    const values = query.get(name) ?? [];
    values.push(text);
    query.set(name, values);
  }
  return query;
}

/** The body as JSON text: JSON as it was sent, any other text as a string. */
function readBody(body: Buffer, isBytes: boolean): string {
  const text = decodeUtf8(isBytes ? body : skipMark(body));
  if (text === null) throw createUnreadable(BODY);
  return isBytes ? JSON.stringify(text) : text;
}

function createUnreadable(part: string) {
  return createArgumentError(`${part} is not UTF-8`, 'send text in UTF-8');
}
